// What every page of the site needs: the address of the site, and requests with its form token.
'use strict'
const meta = name => document.querySelector(`meta[name="${name}"]`).content

const site = {
  root: meta('root'),
  async send(path, body) {
    const answer = await fetch(`${site.root}/api/v1${path}`, {
      method: 'POST',
      headers: {'content-type': 'application/json', 'x-form-token': meta('form-token')},
      body: JSON.stringify(body),
    })
    const found = await answer.json()
    if (!answer.ok) throw Object.assign(new Error(found.error), {status: answer.status})
    return found
  },
}
