/** The address of a load balancer on the web page. @param id of the load balancer */
export type PageLink = (id: string) => string

/** @param pageUrl the page's own URL, with or without a slash at its end; empty for none */
export function pageLink(pageUrl: string): PageLink | null {
  if (pageUrl === '') return null
  const base = pageUrl.endsWith('/') ? pageUrl : `${pageUrl}/`
  return (id) => `${base}load-balancers/${id}`
}

/** Conditions and events hold at most this much. A link that is cut off leads nowhere, so the message is cut instead. */
const LONGEST = 1000

/**
 * A message with the link at its end, after which nothing stands: terminals take what follows for a part of it.
 * @param page null for none
 */
export const withPage = (message: string, page: string | null): string =>
  page === null ? message : `${message.slice(0, Math.max(0, LONGEST - page.length - 1))} ${page}`.trimStart()
