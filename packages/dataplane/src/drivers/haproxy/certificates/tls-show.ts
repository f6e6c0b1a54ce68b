/** Parses output of the runtime API about certificates. Files that are not ours are skipped. */

const CERTIFICATE = /\/([0-9a-f]{32})\.pem(?=:|$| )/
const LIST = /\/f([0-9]+)\.list$/

/** `show ssl crt-list`: a path in each line. Returns the frontend slots that have a list. */
export const parseCertificateLists = (text: string): readonly number[] =>
  text.split('\n').flatMap((line) => {
    const slot = LIST.exec(line.trim())?.[1]
    return slot === undefined ? [] : [Number(slot)]
  })

/** `show ssl crt-list -n <list>`: `<path>:<line>` in each line. Returns content ids. */
export const parseCertificateList = (text: string): Set<string> => contentIdsIn(text)

/** `show ssl cert`: a path in each line. Returns content ids. */
export const parseCertificates = (text: string): Set<string> => contentIdsIn(text)

/** `show ssl ca-file`: a path in each line. Returns content ids. */
export const parseAuthorities = (text: string): Set<string> => contentIdsIn(text)

/** `show ssl crl-file`: a path in each line. Returns content ids. */
export const parseRevocationLists = (text: string): Set<string> => contentIdsIn(text)

const contentIdsIn = (text: string): Set<string> =>
  new Set(
    text.split('\n').flatMap((line) => {
      const contentId = CERTIFICATE.exec(line.trim())?.[1]
      return contentId === undefined ? [] : [contentId]
    }),
  )
