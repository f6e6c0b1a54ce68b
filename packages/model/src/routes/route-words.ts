/** Codes and bounds of HTTP routes that nodes know, too. */

export const REDIRECT_CODES = [301, 302, 303, 307, 308] as const
export const RESPONSE_CODES = [200, 204, 400, 403, 404, 405, 410, 421, 429, 500, 502, 503, 504] as const

/** Limit of labels behind the asterisk of a host name. Each can cost a lookup per request. */
export const MOST_WILDCARD_LABELS = 8

/** Limit of pools that get copies of a route's requests. */
export const MOST_MIRRORS = 4

/** Limit of retries of one request: the proxy has a backend for each number. */
export const MOST_RETRIES = 5
