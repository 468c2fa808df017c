// A table that is wider than the page is reached and scrolled with the keyboard, like a block of code.
const watched = new ResizeObserver(entries => {
  for (const { target } of entries)
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0
    else target.removeAttribute("tabindex")
})
document$.subscribe(() => {
  watched.disconnect()
  for (const one of document.querySelectorAll(".md-typeset__scrollwrap")) watched.observe(one)
})
