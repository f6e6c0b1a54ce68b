import type { RouteFilter } from '@spout/model'

export const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex')
export const list = (texts: readonly string[]): string => texts.map((text) => `.${hex(text)}`).join('')

/**
 * The filters of a route as a row's value, which `http-requests.lua` reads: steps behind slashes, each a word and its
 * arguments between colons, in hexadecimal.
 */
export const filterText = (filters: readonly RouteFilter[]): string =>
  filters
    .flatMap(stepsOf)
    .map((step) => `/${step}`)
    .join('')

function stepsOf(filter: RouteFilter): readonly string[] {
  switch (filter.type) {
    case 'request-headers':
      return headerSteps('request', filter)
    case 'response-headers':
      return headerSteps('response', filter)
    case 'rewrite': {
      const { host, path, prefix } = filter
      return [
        ...(host === null ? [] : [`host:${hex(host)}`]),
        ...(path === null ? [] : [`path:${hex(path)}`]),
        ...(prefix === null ? [] : [`prefix:${prefixText(prefix)}`]),
      ]
    }
    case 'cors': {
      const { origins, methods, headers, exposeHeaders, credentials, maxAgeSeconds } = filter
      const lists = [origins, methods, headers, exposeHeaders].map(list).join(':')
      return [`cors:${credentials ? 1 : 0}:${maxAgeSeconds}:${lists}`]
    }
  }
}

/** A prefix of paths and what replaces it, in hexadecimal. */
export const prefixText = ({ from, to }: { readonly from: string; readonly to: string }): string =>
  `${hex(trimmed(from))}:${hex(trimmed(to))}`

interface HeaderEdits {
  readonly set: readonly { readonly name: string; readonly value: string }[]
  readonly add: HeaderEdits['set']
  readonly remove: readonly string[]
}

const headerSteps = (of: 'request' | 'response', { set, add, remove }: HeaderEdits): readonly string[] => [
  ...remove.map((name) => `${of}-del:${hex(name)}`),
  ...set.map(({ name, value }) => `${of}-set:${hex(name)}:${hex(value)}`),
  ...add.map(({ name, value }) => `${of}-add:${hex(name)}:${hex(value)}`),
]

/** The prefix without trailing slashes, so that the rest of the path begins with one: `/` becomes the empty prefix. */
const trimmed = (prefix: string): string => prefix.replace(/\/+$/, '')
