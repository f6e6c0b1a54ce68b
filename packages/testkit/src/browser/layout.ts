import type { Page } from 'playwright-core'

/** The parts of the browser's own types that the functions below use; they run in the page. */
interface PageElement {
  readonly tagName: string
  readonly className: unknown
  readonly textContent: string
  readonly clientWidth: number
  readonly scrollWidth: number
  readonly parentElement: PageElement | null
  getBoundingClientRect(): { readonly right: number; readonly width: number; readonly height: number }
  getScreenCTM?(): { readonly a: number } | null
  checkVisibility(options: object): boolean
}
interface PageText extends PageElement {
  readonly data: string
}
declare const document: {
  readonly body: PageElement
  readonly documentElement: PageElement
  querySelectorAll(selector: string): Iterable<PageElement>
  createTreeWalker(root: PageElement, what: number): { nextNode(): PageText | null }
}
declare const getComputedStyle: (element: PageElement) => { readonly fontSize: string; readonly overflowX: string }

const SMALLEST_TEXT_PX = 12

/** Texts on the page that are smaller than 12 px, each with its size. Text in a picture counts as it is scaled. */
export const smallTexts = (page: Page): Promise<readonly string[]> => page.evaluate(findSmallTexts, SMALLEST_TEXT_PX)

/** What reaches beyond the right edge of the page, so that people must scroll sideways; nothing where all fits. */
export const beyondTheEdge = (page: Page): Promise<readonly string[]> => page.evaluate(findBeyondTheEdge)

function findSmallTexts(smallestPx: number): readonly string[] {
  const found: string[] = []
  const texts = document.createTreeWalker(document.body, 4)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const element = text.parentElement
    if (element === null || text.data.trim() === '' || !element.checkVisibility({ visibilityProperty: true })) continue
    const scale = element.getScreenCTM?.()?.a ?? 1
    const sizePx = Number.parseFloat(getComputedStyle(element).fontSize) * scale
    if (sizePx < smallestPx - 0.01) found.push(`${sizePx.toFixed(1)} px: ${text.data.trim().slice(0, 60)}`)
  }
  return found
}

function findBeyondTheEdge(): readonly string[] {
  const edge = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth <= edge) return []
  const scrollsItself = (element: PageElement | null): boolean =>
    element !== null &&
    element !== document.body &&
    (getComputedStyle(element).overflowX !== 'visible' || scrollsItself(element.parentElement))
  const wide = [...document.querySelectorAll('body *')].filter(
    (element) => element.getBoundingClientRect().right > edge + 0.5 && !scrollsItself(element.parentElement),
  )
  return wide.length === 0
    ? [`the page is ${document.documentElement.scrollWidth} px wide, of ${edge}`]
    : wide.map(
        (element) =>
          `${element.tagName.toLowerCase()}.${String(element.className)}: ${element.textContent.slice(0, 40)}`,
      )
}
