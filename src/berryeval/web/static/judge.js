// The judging page. A vote is kept in this browser until the server has stored it, and every vote
// has an id of its own, so that one which is sent twice counts once.
'use strict'
const AHEAD = 12 // pairs that are fetched before they are needed
const LOW = 8 // fetch more when fewer are left
const LATEST = 20 // votes that the pace is about
const AWAY = 300 // seconds after which nobody is judging
const LONGEST_PAUSE = 15 // seconds between two attempts to send
const AT_ONCE = 100 // votes of one request

const find = id => document.getElementById(id)
const desk = find('judge')
const adjudicates = Boolean(desk.dataset.adjudicates)
const grades = JSON.parse(desk.dataset.grades)
const path = `/judging/${encodeURIComponent(desk.dataset.room)}`

// Votes that are not stored yet, oldest first. Each has an entry of its own in the storage of the
// browser: two windows do not overwrite each other, and a closed one loses nothing.
const outbox = {
  prefix: `berryeval vote ${JSON.stringify([site.root, desk.dataset.judge, desk.dataset.room])} `,
  memory: new Map(),
  isSafe: true,
  count: 0,
  add(vote) {
    const at = String(Date.now()).padStart(15, '0') + String(outbox.count++).padStart(6, '0')
    const key = `${outbox.prefix}${at} ${vote.request}`
    try {
      localStorage.setItem(key, JSON.stringify(vote))
    } catch {
      outbox.isSafe = false
      outbox.memory.set(key, vote)
    }
  },
  list() {
    const found = [...outbox.memory]
    try {
      for (const key of Object.keys(localStorage))
        if (key.startsWith(outbox.prefix)) found.push([key, JSON.parse(localStorage.getItem(key))])
    } catch {
      outbox.isSafe = false
    }
    return found.sort(([one], [other]) => (one < other ? -1 : 1))
  },
  remove(key) {
    outbox.memory.delete(key)
    try {
      localStorage.removeItem(key)
    } catch {
      outbox.isSafe = false
    }
  },
}

let shown = null // the pair on the screen
let shownAt = 0
let ahead = []
let ending = ''
let busy = false
let note = ''
let sending = null
let fetching = null
let problem = '' // why votes cannot be sent now
let pause = 1
let timer = 0
let refused = []
let progress = {pairs: Number(find('bar').dataset.pairs), judged: find('bar').value}
const actions = [] // votes and skips of this window, for undo
const skipped = new Set()
const paces = []

function makeId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), one => one.toString(16).padStart(2, '0')).join('')
}

// Sending

async function sendAll() {
  let most = AT_ONCE
  for (let waiting = outbox.list(); waiting.length; waiting = outbox.list()) {
    const batch = waiting.slice(0, most)
    try {
      const found = await site.send(`${path}/votes`, {votes: batch.map(([, vote]) => vote)})
      if (!adjudicates) progress = found.progress
      for (const [key] of batch) outbox.remove(key)
    } catch (error) {
      if (![400, 404, 413, 422].includes(error.status)) throw error
      if (batch.length === 1) { // this vote can never be stored; the others can
        refused.push(error.message)
        outbox.remove(batch[0][0])
      }
      most = 1
    }
  }
}

function send() {
  sending ??= sendAll().then(reportBack, reportLoss).finally(() => { sending = null })
  return sending
}

function reportBack() {
  clearTimeout(timer)
  pause = 1
  const wasLost = problem !== ''
  problem = ''
  tell(wasLost ? 'Connected again: all your votes are stored.' : '', wasLost ? 'back' : '')
  if (wasLost && !shown) next()
}

function reportLoss(error) {
  problem = error.status === 401 ? 'You are signed out.'
    : error.status === 403 ? `${error.message}.`
    : error.status ? `The server cannot store votes: ${error.message}.`
    : 'No connection to the server.'
  clearTimeout(timer)
  timer = setTimeout(send, pause * 1000)
  pause = Math.min(LONGEST_PAUSE, pause * 2)
  tellLoss(error.status)
}

function tellLoss(status) {
  const count = outbox.list().length
  const votes = count === 1 ? '1 vote is' : `${count} votes are`
  const cure = status === 401 || status === 403 ? 'sign in, and open this page again' : 'the server is back'
  tell(`${problem} ${count ? `${votes} kept in this ${outbox.isSafe ? 'browser' : 'page: do not close it'}, and sent when ${cure === 'the server is back' ? cure : `you ${cure}`}.` : ''}`, 'lost')
}

function tell(text, kind) {
  const line = find('line')
  line.className = `line ${kind}`
  line.textContent = [text, ...refused.map(one => `A vote was refused: ${one}.`)].join(' ').trim()
  showProgress()
}

// Pairs

async function fetchMore() {
  const waiting = outbox.list().map(([, vote]) => vote.pair)
  const known = [shown, ...ahead].filter(Boolean).map(one => one.id)
  const without = [...new Set([...known, ...skipped, ...waiting])].join(',')
  const found = await site.ask(`${path}/pairs?count=${AHEAD}&adjudicate=${adjudicates}&without=${without}`)
  const here = new Set([shown, ...ahead].filter(Boolean).map(one => one.id))
  const voted = new Set(outbox.list().map(([, vote]) => vote.pair))
  ahead.push(...found.pairs.filter(one => !here.has(one.id) && !voted.has(one.id) && !skipped.has(one.id)))
  ending = found.ending
  if (!adjudicates && !outbox.list().length) progress = found.progress
}

function fillUp() {
  fetching ??= fetchMore().catch(error => { reportLoss(error) }).finally(() => { fetching = null })
  return fetching
}

async function next() {
  if (!ahead.length) {
    shown = null
    await fillUp()
  }
  show(ahead.shift() ?? null)
  if (ahead.length < LOW && !ending) fillUp()
}

function show(pair) {
  shown = pair
  shownAt = performance.now()
  note = ''
  find('noting').hidden = true
  find('note').value = ''
  for (const id of ['pair', 'keys']) find(id).hidden = !pair
  find('ending').hidden = Boolean(pair)
  find('again').hidden = Boolean(pair) || !ending
  document.querySelector('#again button').hidden = !skipped.size
  if (pair) {
    showPair(pair)
    find('pair').focus({preventScroll: true})
    scrollTo(0, 0)
  } else {
    find('ending').textContent = problem ? 'More pairs show when the server is back.' : `${describeEnding()}.`
    find('ending').focus()
  }
  showProgress()
}

function describeEnding() {
  const own = `${desk.dataset.judge} has judged`
  const text = ending.startsWith(own) ? `you have judged${skipped.size ? ' or skipped' : ''}${ending.slice(own.length)}` : ending
  return text.charAt(0).toUpperCase() + text.slice(1) + (skipped.size ? `; ${skipped.size} skipped` : '')
}

function showPair(pair) {
  find('query').textContent = pair.query
  find('wanted').replaceChildren(...pair.wanted.map(line => make('li', line)))
  find('name').textContent = pair.name
  find('before').textContent = pair.before.replace(/^\n+|\n+$/g, '')
  find('after').textContent = pair.after.replace(/^\n+|\n+$/g, '')
  const pieces = pair.passage.map(one => (one.marked ? make('mark', one.text) : one.text))
  if (pair.more) pieces.push(make('i', ` … ${pair.more.toLocaleString('en')} more characters`))
  find('passage').replaceChildren(...(pieces.length ? pieces : ['The text of this passage is unknown.']))
  find('votes').hidden = !pair.votes.length
  find('votes').replaceChildren(...pair.votes.map(showVote))
}

function showVote(vote) {
  const line = make('li', '')
  line.append(make('bdi', vote.judge), ' ', make('b', vote.grade ?? '?'))
  if (vote.note) line.append(' ', make('small', vote.note))
  return line
}

function make(name, text) {
  const element = document.createElement(name)
  element.textContent = text
  return element
}

// How many more pairs are judged when everything is sent.
function countWaiting() {
  const first = new Map()
  const last = new Map()
  for (const [, vote] of outbox.list()) {
    if (!first.has(vote.pair)) first.set(vote.pair, vote.withdrawn)
    last.set(vote.pair, vote.withdrawn)
  }
  // A pair whose first vote here takes one back is judged on the server.
  return [...last].reduce((sum, [pair, isBack]) => sum + (first.get(pair) ? 0 : 1) - (isBack ? 1 : 0), 0)
}

function showProgress() {
  const given = actions.filter(one => one.voted).length
  const judged = Math.min(progress.pairs, adjudicates ? given : progress.judged + countWaiting())
  find('bar').max = progress.pairs || 1
  find('bar').value = judged
  find('progress').textContent = `${judged.toLocaleString('en')} of ${progress.pairs.toLocaleString('en')}`
  if (paces.length < 3) return
  const seconds = [...paces].sort((one, other) => one - other)[paces.length >> 1]
  const minutes = Math.ceil((progress.pairs - judged) * seconds / 60)
  const left = minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
  find('pace').textContent = `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s a pair${minutes ? `, about ${left} left` : ''}`
}

// Answers

async function give(vote, key) {
  busy = true
  const button = document.querySelector(`[data-key="${CSS.escape(key)}"]`)
  button.classList.add('pressed')
  outbox.add({request: makeId(), note: '', grade: null, withdrawn: false, adjudicates, ...vote})
  if (problem) tellLoss()
  else await send() // the vote is stored before the next pair shows
  button.classList.remove('pressed')
  busy = false
}

async function answer(grade, key) {
  const pair = shown
  const seconds = (performance.now() - shownAt) / 1000
  if (seconds < AWAY) paces.push(seconds)
  paces.splice(0, paces.length - LATEST)
  actions.push({pair, voted: true})
  await give({pair: pair.id, grade, note}, key)
  await next()
}

async function undo() {
  const last = actions.pop()
  if (!last) {
    tell('There is nothing to take back in this window.', '')
    return
  }
  if (last.voted) await give({pair: last.pair.id, withdrawn: true}, 'u')
  skipped.delete(last.pair.id)
  if (shown) ahead.unshift(shown)
  show(last.pair)
  if (!problem) tell(last.voted ? 'The last vote is taken back.' : 'Back to the pair that was skipped.', '')
}

function skip() {
  if (!problem) tell('', '')
  skipped.add(shown.id)
  actions.push({pair: shown, voted: false})
  next()
}

function press(key) {
  if (busy) return
  const grade = grades.find(one => one.key === key)
  if (key === 'u') undo()
  else if (!shown) return
  else if (grade) answer(grade.grade, key)
  else if (key === '?') answer(null, key)
  else if (key === 's') skip()
  else if (key === 'n') openNote()
}

function openNote() {
  find('noting').hidden = false
  find('note').value = note
  find('note').focus()
}

function closeNote(kept) {
  if (kept) note = find('note').value.trim()
  find('noting').hidden = true
  find('pair').focus({preventScroll: true})
  tell(note ? `Note: ${note}` : '', '')
}

document.addEventListener('keydown', event => {
  if (event.target.id === 'note') {
    if (event.key === 'Escape') closeNote(false)
    return
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
  if (grades.some(one => one.key === event.key) || '?snu'.includes(event.key)) {
    event.preventDefault()
    press(event.key)
  }
})
find('noting').addEventListener('submit', event => {
  event.preventDefault()
  closeNote(true)
})
find('keys').addEventListener('click', event => {
  const button = event.target.closest('button')
  if (button) press(button.dataset.key)
})
document.querySelector('#again button').addEventListener('click', () => {
  skipped.clear()
  ending = ''
  next()
})
// Another window of this judge has judged a pair: it is not asked for here again.
addEventListener('storage', event => {
  if (!event.newValue || !event.key.startsWith(outbox.prefix)) return
  const vote = JSON.parse(event.newValue)
  if (vote.withdrawn || vote.adjudicates !== adjudicates) return
  ahead = ahead.filter(one => one.id !== vote.pair)
  if (busy || shown?.id !== vote.pair) return
  if (!problem) tell('You judged the last pair in another window.', '')
  next()
})
addEventListener('online', send)
addEventListener('beforeunload', event => {
  if (!outbox.isSafe && outbox.list().length) event.preventDefault()
})

async function start() {
  if (outbox.list().length) await send() // of an earlier visit
  await next()
}
start()
