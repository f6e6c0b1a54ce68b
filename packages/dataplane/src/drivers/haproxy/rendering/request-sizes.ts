import type { SizeShape } from '../sections/shape.ts'

/** Most bytes of headers that a class may allow; HAProxy takes a buffer of this size and more for each message. */
export const MOST_HEADER_BYTES = 65_536

/**
 * The buffer that headers of this size fit into: HAProxy keeps 1 kB free for what it adds (`tune.maxrewrite`), and some
 * bytes for each of at most 101 lines (`tune.http.maxhdr`). Some more is for requests that are too large, whose clients
 * get 431; those that do not even fit get 400.
 */
export const bufferFor = (headerBytes: number): number => Math.ceil((headerBytes + 4_096) / 1_024) * 1_024

/** 2.6 has no text of its own for 431. */
const TOO_LARGE = 'http-request return status 431 content-type text/plain string "Request Header Fields Too Large"'

/**
 * Rules of an HTTP frontend that refuse requests by their size, before anything else looks at them. A body that is
 * announced is refused by its header, so `Expect: 100-continue` has an answer before it is sent.
 */
export const sizeRules = ({ headerBytes, bodyBytes }: SizeShape = {}): readonly string[] => [
  ...(headerBytes === undefined
    ? []
    : [
        '    http-request set-var(txn.headers) req.hdrs,length',
        '    http-request set-var(txn.headers) url,length,add(txn.headers)',
        `    ${TOO_LARGE} if { var(txn.headers) -m int gt ${headerBytes} }`,
      ]),
  ...(bodyBytes === undefined
    ? []
    : [
        // HAProxy takes it for the length of the body, or removes it if the body is chunked. `hdr_val` would read 32
        // bits.
        '    http-request set-var(txn.told) bool(true) if { req.hdr(content-length) -m found }',
        `    http-request deny deny_status 413 if { req.fhdr(content-length),sub(${bodyBytes}) gt 0 }`,
        '    http-after-response set-status 413 reason "Payload Too Large" if { var(txn.over) -m found }',
      ]),
]

/** Counts bodies that are not announced, as routes do (`body-limits.lua`). 2.6 takes no filter in a defaults section. */
export const bodyFilter = ({ bodyBytes }: SizeShape = {}): readonly string[] =>
  bodyBytes === undefined ? [] : [`    filter lua.count_body ${bodyBytes}`]
