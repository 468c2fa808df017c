// A link with a token after # signs in. Servers and proxies never see that part of an address.
'use strict'
const given = location.hash.slice(1)
if (given) {
  history.replaceState(null, '', location.pathname)
  document.querySelector('#token').value = decodeURIComponent(given)
  document.querySelector('form.sign-in').requestSubmit()
}
