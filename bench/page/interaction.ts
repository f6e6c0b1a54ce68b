import type { Visit } from '@spout/testkit/browser'

type Page = Visit['page']

/** What a person does in the page, and how the page looks when it is done. */
export interface Interaction {
  /** The event of the browser from which its time is measured. */
  readonly event: 'click' | 'keydown' | 'wheel' | 'popstate'
  readonly act: (page: Page) => Promise<unknown>
  /** An expression of JavaScript. It is false before. */
  readonly isShown: string
}

const LONGEST_MS = 30_000

/**
 * In the page: from the time that the browser gives the event, until the frame in which the result is drawn is over. A
 * message that is sent while a frame is made arrives after it.
 */
const TIMER = `globalThis.timeFrom = (type, isShown) => {
  globalThis.timed = new Promise((resolve, reject) => {
    let beganMs
    addEventListener(type, ({ timeStamp }) => { beganMs = timeStamp }, { capture: true, passive: true, once: true })
    const patience = setTimeout(() => reject(new Error('nothing is shown after ' + type)), ${LONGEST_MS})
    const frame = () => {
      if (beganMs === undefined || !isShown()) return requestAnimationFrame(frame)
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => {
        clearTimeout(patience)
        resolve(performance.now() - beganMs)
      }
      port2.postMessage(null)
    }
    requestAnimationFrame(frame)
  })
}`

/** Does it. @returns how long the page took, in ms */
export async function timed(page: Page, { event, act, isShown }: Interaction): Promise<number> {
  if (await page.evaluate<boolean>(isShown)) throw new Error(`it is shown already: ${isShown}`)
  await page.evaluate(`${TIMER}; timeFrom('${event}', () => ${isShown})`)
  await act(page)
  return page.evaluate<number>('timed')
}
