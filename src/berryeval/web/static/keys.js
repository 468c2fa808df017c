// Keys of the pages of queries: arrows choose a row or a hit, turn pages, and step through queries.
'use strict'
{
  const choose = (all, step) => {
    const now = all.indexOf(document.activeElement.closest('a.row, .hit'))
    const next = all[now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, now + step))]
    next?.focus()
    next?.scrollIntoView({block: 'nearest'})
  }
  const press = selector => document.querySelector(selector)?.click()
  const actions = {
    ArrowDown: () => choose(chosen(), 1),
    ArrowUp: () => choose(chosen(), -1),
    ArrowLeft: () => press('a[rel=prev]'),
    ArrowRight: () => press('a[rel=next]'),
    Escape: () => press('a[rel=up]'),
    '/': () => document.querySelector('input[type=search]')?.focus(),
    Enter: () => {
      const fold = document.activeElement.matches('.hit') && document.activeElement.querySelector('details')
      if (fold) fold.open = !fold.open
      return Boolean(fold)
    },
  }
  const chosen = () => [...document.querySelectorAll('a.row, .hit')]
  const typing = event => event.target.closest('input, select, textarea')

  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey || !actions[event.key]) return
    if (typing(event)) {
      if (event.key === 'Escape') event.target.blur()
      return
    }
    if (actions[event.key]() !== false) event.preventDefault()
  })
}
