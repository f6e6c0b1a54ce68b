import type { Visit } from '@spout/testkit/browser'

type Page = Visit['page']

const LONGEST_MS = 60_000

/** In the page: notes when what an expression says has changed, once the frame is over in which it is drawn. */
const NOTES = `globalThis.noteStates = (stateNow) => {
  let state = stateNow()
  globalThis.drawn = { state, atMs: Date.now() }
  let told = () => {}
  new MutationObserver(() => {
    const now = stateNow()
    if (now === state) return
    state = now
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => {
        globalThis.drawn = { state: now, atMs: Date.now() }
        told()
      }
      port2.postMessage(null)
    })
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
  globalThis.whenDrawn = (wanted) => new Promise((resolve, reject) => {
    const patience = setTimeout(() => reject(new Error('"' + wanted + '" is not drawn')), ${LONGEST_MS})
    told = () => {
      if (drawn.state !== wanted) return
      clearTimeout(patience)
      resolve(drawn.atMs)
    }
    told()
  })
}`

/** Begins to note what a page draws. @param state an expression of JavaScript */
export const noteStates = (page: Page, state: string): Promise<unknown> =>
  page.evaluate(`${NOTES}; noteStates(() => ${state})`)

/** When the page drew this state, which it draws still or will; in ms since 1970. @throws Error after a minute */
export const whenDrawn = (page: Page, state: string): Promise<number> => page.evaluate<number>(`whenDrawn('${state}')`)
