// The list of runs: runs stay ticked on other pages of the list, until they are compared.
'use strict'
{
  const ticked = new Set()
  const boxes = () => [...document.querySelectorAll('#compare input[type=checkbox]')]

  const show = () => {
    const form = document.querySelector('#compare')
    if (!form) return
    const here = new Set(boxes().map(box => box.value))
    for (const box of boxes()) box.checked = ticked.has(box.value)
    for (const one of form.querySelectorAll('input[type=hidden]')) one.remove()
    for (const name of ticked) {
      if (!here.has(name)) form.append(Object.assign(document.createElement('input'), {type: 'hidden', name: 'run', value: name}))
    }
    const count = ticked.size
    form.querySelector('.dock').classList.toggle('active', count > 0)
    form.querySelector('.dock button').disabled = count < 1
    form.querySelector('.ticked').textContent = count === 1 ? '1 run ticked: compare its providers, or tick another run.' : `${count} runs ticked.`
  }

  document.addEventListener('change', event => {
    if (!event.target.matches?.('#compare input[type=checkbox]')) return
    if (event.target.checked) ticked.add(event.target.value)
    else ticked.delete(event.target.value)
    show()
  })
  document.addEventListener('htmx:after:swap', show)
  window.addEventListener('pageshow', () => {
    for (const box of boxes()) if (box.checked) ticked.add(box.value)
    show()
  })
}
