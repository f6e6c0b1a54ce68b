const KEPT = 'spout-place-before-login'
const HERE = '/ui/'

/** Keeps where the page is, in this tab, while its user logs in elsewhere. */
export const keepPlace = (): void => sessionStorage.setItem(KEPT, `${location.pathname}${location.search}`)

/** Where the page was; its start if it is not known. It is always a place of this page. */
export function takePlace(): string {
  const kept = sessionStorage.getItem(KEPT)
  sessionStorage.removeItem(KEPT)
  return kept?.startsWith(HERE) === true ? kept : HERE
}
