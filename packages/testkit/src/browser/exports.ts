/** A real browser for tests of the web page: faults that it reports, and what keeps people from using the page. */
export { barriers, paleTexts } from './axe.ts'
export { type Look, TestBrowser } from './browser.ts'
export { beyondTheEdge, smallTexts } from './layout.ts'
export { picture } from './pictures.ts'
export { Visit } from './visit.ts'
