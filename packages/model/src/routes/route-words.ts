/** Codes and bounds of HTTP routes that nodes know, too. */

export const REDIRECT_CODES = [301, 302, 303, 307, 308] as const
export const RESPONSE_CODES = [200, 204, 400, 403, 404, 405, 410, 421, 429, 500, 502, 503, 504] as const

/** Labels of a host name behind the asterisk. Each of them can cost a lookup per request. */
export const MOST_WILDCARD_LABELS = 8

/** Pools that get copies of a route's requests. */
export const MOST_MIRRORS = 4

/** Retries of one request: a proxy has a backend for each number. */
export const MOST_RETRIES = 5
