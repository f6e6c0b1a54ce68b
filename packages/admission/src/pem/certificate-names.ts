import type { X509Certificate } from 'node:crypto'
import { SpoutError } from '@spout/model'
import { AddressSyntaxError, formatIp, parseIp } from '@spout/net'

/** A DNS name, with `*` for its first label if it is a wildcard (RFC 6125, section 6.4.3). */
const DNS_NAME = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * The DNS names, in lower case, and addresses that a certificate is for, of its subject alternative names; without any,
 * its common name, if that is a DNS name. A certificate without a name can be a listener's default.
 * @throws SpoutError InvalidField for names that clients may read differently than we do
 */
export function certificateNames({ subjectAltName, subject }: X509Certificate): readonly string[] {
  const names: string[] = []
  for (const entry of alternatives(subjectAltName ?? '')) {
    const [kind, ...rest] = entry.split(':')
    const text = rest.join(':')
    if (kind === 'DNS') names.push(dnsName(text))
    else if (kind === 'IP Address') names.push(address(text))
  }
  return [...new Set(names.length === 0 ? commonNames(subject) : names)]
}

/** Node.js prints an attribute in a line, and escapes what could be mistaken. Most common names are no DNS names. */
const commonNames = (subject: string): readonly string[] =>
  subject
    .split('\n')
    .filter((line) => line.startsWith('CN='))
    .map((line) => line.slice('CN='.length).toLowerCase())
    .filter(isDnsName)

const isDnsName = (name: string): boolean => name.length <= 253 && DNS_NAME.test(name)

/**
 * Node.js prints `DNS:a, DNS:b`. It quotes an entry with characters that could be mistaken, such as a comma or U+0000,
 * as a JSON string (CVE-2021-44532).
 */
function alternatives(text: string): readonly string[] {
  if (text.includes('"')) throw refuse('has a subject alternative name with characters that no DNS name has')
  return text === '' ? [] : text.split(', ')
}

function dnsName(text: string): string {
  const name = text.toLowerCase()
  if (!isDnsName(name)) throw refuse('has a subject alternative name that is not a DNS name')
  return name
}

function address(text: string): string {
  try {
    return formatIp(parseIp(text))
  } catch (error) {
    if (error instanceof AddressSyntaxError) throw refuse('has a subject alternative name that is not an address')
    throw error
  }
}

const refuse = (reason: string): SpoutError => new SpoutError('InvalidField', { field: 'chain', reason })
