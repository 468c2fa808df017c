// A link with a token after # signs in. Servers and proxies never see that part of an address.
'use strict'
function useLink() {
  const given = location.hash.slice(1)
  if (!given) return
  history.replaceState(null, '', location.pathname)
  document.querySelector('#token').value = given
  document.querySelector('form.sign-in').requestSubmit()
}
addEventListener('hashchange', useLink)
useLink()
