// Keys of the pages of queries: arrows choose a row or a hit, turn pages and step through queries;
// digits judge the chosen hit.
'use strict'
{
  const list = selector => [...document.querySelectorAll(selector)]
  const press = selector => document.querySelector(selector)?.click()
  const hit = () => document.activeElement.closest('.hit')
  const say = text => { document.getElementById('said').textContent = text }

  const choose = (all, step, now = all.indexOf(document.activeElement.closest('a.row, .hit'))) => {
    const next = all[now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, now + step))]
    next?.focus()
    next?.scrollIntoView({block: 'nearest'})
  }
  const chooseUnjudged = () => {
    const all = list('.hit'), now = all.indexOf(hit())
    const next = [...all.slice(now + 1), ...all.slice(0, now + 1)].find(one => one.matches('.unjudged:not(.voted)'))
    if (next) choose([next], 1, -1)
    else say('Every hit of this query is judged.')
  }

  // The same hit in other rankings shows the same vote.
  const show = (id, grade) => {
    for (const one of list('.hit.unjudged')) {
      if (one.dataset.id !== id) continue
      one.classList.toggle('voted', grade !== null)
      one.querySelector('b').textContent = grade ?? '?'
    }
  }
  // This browser remembers the votes given here, as the run itself shows only judgments of its time.
  const columns = document.querySelector('.columns[data-judged]')
  const place = columns && ['votes', columns.dataset.judge, columns.dataset.judged, columns.dataset.query].join('\n')
  const recall = () => JSON.parse(localStorage.getItem(place) || '{}')
  const remember = (id, grade) => {
    const {[id]: before, ...others} = recall()
    localStorage.setItem(place, JSON.stringify(grade === null ? others : {...others, [id]: grade}))
  }
  if (columns) for (const [id, grade] of Object.entries(recall())) show(id, grade)

  const vote = async (chosen, grade) => {
    const {judged, runs, query} = columns.dataset
    const {id, rank} = chosen.dataset
    say('')
    try {
      await site.send('/hits/vote', {
        run: JSON.parse(runs), benchmark: judged, id: query, rank: Number(rank), grade,
        system: chosen.closest('.column').dataset.system, withdrawn: grade === null, request: crypto.randomUUID(),
      })
      show(id, grade)
      remember(id, grade)
      say(grade === null ? 'Your vote is taken back.' : `Your vote is stored: ${grade}. The next evaluation counts it.`)
    } catch (error) {
      say(`Not stored: ${error.message}`)
    }
  }
  const judge = grade => {
    const chosen = hit()
    if (!columns || !chosen?.matches('.unjudged')) return false
    if (grade !== null || chosen.matches('.voted')) vote(chosen, grade)
  }

  // Buttons for those without keys, in the chosen hit only.
  document.addEventListener('focusin', event => {
    const chosen = event.target.closest('.columns[data-judged] .hit.unjudged')
    if (!chosen || chosen.querySelector('.give')) return
    const row = document.createElement('p')
    row.className = 'give'
    for (const grade of [0, 1, 2, 3]) {
      const button = Object.assign(document.createElement('button'), {type: 'button', textContent: grade})
      button.setAttribute('aria-label', `Judge this hit: ${grade}`)
      button.addEventListener('click', () => vote(chosen, grade))
      row.append(button)
    }
    chosen.lastElementChild.append(row)
  })

  const actions = {
    ArrowDown: () => choose(list('a.row, .hit'), 1),
    ArrowUp: () => choose(list('a.row, .hit'), -1),
    ArrowLeft: () => press('a[rel=prev]'),
    ArrowRight: () => press('a[rel=next]'),
    Escape: () => press('a[rel=up]'),
    '/': () => document.querySelector('input[type=search]')?.focus(),
    j: () => list('.hit').length > 0 && chooseUnjudged(),
    u: () => judge(null),
    Enter: () => {
      const fold = document.activeElement.matches('.hit') && document.activeElement.querySelector('details')
      if (fold) fold.open = !fold.open
      return Boolean(fold)
    },
    ...Object.fromEntries([...'0123456789'].map(digit => [digit, () => judge(Number(digit))])),
  }

  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(actions, event.key)) return
    if (event.target.closest('input, select, textarea')) {
      if (event.key === 'Escape') event.target.blur()
      return
    }
    if (actions[event.key]() !== false) event.preventDefault()
  })
}
