import type { Transport } from '@spout/model/protocols'
import { isIp } from '@spout/net'
import type { AskedRequest } from '@spout/plan/requests'

/** What a person asks, as typed. It is in the page's URL, so that it can be sent to others. */
export interface Question {
  /** Id of the load balancer; empty: the one that has the address. */
  readonly lb: string
  readonly address: string
  readonly port: string
  readonly transport: Transport
  readonly method: string
  /** The `Host` header, or the server name (SNI) of a TLS stream. */
  readonly host: string
  /** With the query. */
  readonly path: string
  /** Lines `name: value`. */
  readonly headers: string
  /** The client's address; empty: not known. */
  readonly source: string
}

export const NO_QUESTION: Question = {
  lb: '',
  address: '',
  port: '80',
  transport: 'tcp',
  method: 'GET',
  host: '',
  path: '/',
  headers: '',
  source: '',
}

const TRANSPORTS: readonly string[] = ['tcp', 'udp', 'sctp'] satisfies readonly Transport[]

/** Reads a question from the parameters of a URL, which may be anything. */
export function questionOf(search: Readonly<Record<string, unknown>>): Question {
  const text = (name: keyof Question): string => {
    const value = search[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : NO_QUESTION[name]
  }
  const transport = text('transport')
  return {
    lb: text('lb'),
    address: text('address'),
    port: text('port'),
    transport: TRANSPORTS.includes(transport) ? (transport as Transport) : 'tcp',
    method: text('method'),
    host: text('host'),
    path: text('path'),
    headers: text('headers'),
    source: text('source'),
  }
}

/** The parameters of a question, without those that are as usual. */
export const searchOf = (question: Question): Partial<Question> =>
  Object.fromEntries(
    Object.entries(question).filter(([name, value]) => value !== NO_QUESTION[name as keyof Question]),
  ) as Partial<Question>

/** The parts of a question that an address such as `https://shop.example.com/cart` answers; null if it is none. */
export function partsOfUrl(text: string): Partial<Question> | null {
  const url = URL.parse(text.trim())
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null
  const name = url.hostname.replace(/^\[|\]$/g, '')
  return {
    ...(isIp(name) && { address: name }),
    host: url.host,
    port: url.port || (url.protocol === 'https:' ? '443' : '80'),
    transport: 'tcp',
    path: `${url.pathname}${url.search}`,
  }
}

/** What a typed address of the web does, so that one that fills in nothing is seen to do so. */
export const urlHint = (text: string): string =>
  text.trim() === '' || partsOfUrl(text) !== null
    ? 'Fills in the fields below.'
    : 'Fills in nothing yet: it begins with http:// or https://.'

/** What is wrong with a question, by field. Empty: nothing. */
export function wrongIn({ address, port, source, path, headers }: Question): Partial<Record<keyof Question, string>> {
  return {
    ...(!isIp(address) && { address: address === '' ? 'Say which address.' : 'This is not an IP address.' }),
    ...(!isPort(port) && { port: 'A port is a number from 1 to 65535.' }),
    ...(source !== '' && !isIp(source) && { source: 'This is not an IP address.' }),
    ...(!path.startsWith('/') && path !== '*' && { path: 'A path begins with /.' }),
    ...(linesOf(headers).some((line) => !/^[^\s:]+:/.test(line)) && {
      headers: 'Each line is a name, a colon, a value.',
    }),
  }
}

const isPort = (text: string): boolean => /^[0-9]{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535

/** The request of a question that nothing is wrong in. */
export function requestOf({ method, host, path, headers, source }: Question): AskedRequest {
  const [before = '', query = ''] = path.split(/\?(.*)/s)
  return {
    method: method.toUpperCase(),
    host: host === '' ? null : host,
    path: path === '*' ? null : before,
    query,
    headers: linesOf(headers).map((line) => {
      const [name = '', value = ''] = line.split(/:(.*)/s)
      return [name.trim(), value.trim()] as const
    }),
    source: source === '' ? null : source,
    client: null,
  }
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '')
