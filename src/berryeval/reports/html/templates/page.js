for (const part of document.querySelectorAll(".queries")) {
  const list = part.querySelector(".list")
  const queries = [...list.children]
  if (queries.length < 2) continue
  const add = (parent, tag, set) => parent.appendChild(Object.assign(document.createElement(tag), set))
  const tools = Object.assign(document.createElement("p"), { className: "tools" })
  const named = text => add(tools, "label", { textContent: text + " " })
  const filter = add(named("Filter"), "input", { type: "search", placeholder: "words, id or category" })
  const sort = add(named("Sort"), "select", {})
  const count = add(tools, "output", {})
  const values = new Map(queries.map(one => [one, one.dataset.values.split(" ").slice(0, -1).map(text => text === "" ? NaN : Number(text))]))
  const known = one => values.get(one).filter(value => !isNaN(value))
  const orders = [["as in the benchmark", () => 0], ["largest difference first", one => -(Math.max(...known(one)) - Math.min(...known(one)))]]
  const names = [...queries[0].querySelectorAll(".values .system")].map(one => one.title)
  names.forEach((name, place) => {
    orders.push([name + ": lowest first", one => values.get(one)[place]], [name + ": highest first", one => -values.get(one)[place]])
  })
  if (names.length < 2) orders.splice(1, 1)
  for (const [name] of orders) add(sort, "option", { textContent: name })
  const texts = new Map(queries.map(one => [one, one.firstElementChild.textContent.toLowerCase()]))
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
    for (const one of queries) one.hidden = !words.every(word => texts.get(one).includes(word))
    const shown = queries.filter(one => !one.hidden).length
    count.textContent = words.length ? shown + " of " + queries.length : ""
  }
  const arrange = () => {
    const key = orders[sort.selectedIndex][1]
    const place = one => { const found = key(one); return isNaN(found) ? Infinity : found }
    const keys = new Map(queries.map(one => [one, place(one)]))
    list.append(...[...queries].sort((a, b) => keys.get(a) - keys.get(b) || 0))
  }
  filter.addEventListener("input", show)
  sort.addEventListener("change", arrange)
  part.insertBefore(tools, list)
}
