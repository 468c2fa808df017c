// What every page of the site needs: the address of the site, and requests with its form token.
'use strict'
const meta = name => document.querySelector(`meta[name="${name}"]`).content

const site = {
  root: meta('root'),
  async ask(path, options = {}) {
    const answer = await fetch(`${site.root}/api/v1${path}`, {signal: AbortSignal.timeout(10000), ...options})
    const found = await answer.json()
    if (!answer.ok) throw Object.assign(new Error(found.error), {status: answer.status})
    return found
  },
  send(path, body) {
    return site.ask(path, {
      method: 'POST',
      headers: {'content-type': 'application/json', 'x-form-token': meta('form-token')},
      body: JSON.stringify(body),
    })
  },
}
