import { readFileSync } from 'node:fs'
import type { DnsZone } from '@spout/controllers'
import { NameServer, TSIG_ALGORITHMS } from '@spout/dns'
import { dnsName } from '@spout/model'
import { ConfigError } from '@spout/runtime/config'
import { z } from 'zod'

/** Labels may have an underscore here, as some keys' names have. */
const keyName = z
  .string()
  .regex(/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i, 'is not a name such as spout-key')
  .max(253)
  .transform((name) => name.toLowerCase())

/** A zone whose names are published, and the name server that takes updates of it. */
export const dnsZone = z.strictObject({
  name: dnsName.refine((name) => !name.startsWith('*'), 'is a wildcard: name the zone itself'),
  /** A name or address. */
  host: z.string().min(1).max(253),
  port: z.number().int().min(1).max(65_535).default(53),
  keyName,
  algorithm: z.enum(TSIG_ALGORITHMS).default('hmac-sha256'),
  /** A file with the key's secret in base64. */
  secretFile: z.string().min(1),
})

/** @throws ConfigError for a secret that is not base64; Error if a file cannot be read */
export const openDnsZones = (zones: readonly z.output<typeof dnsZone>[]): readonly DnsZone[] =>
  zones.map(({ name, host, port, keyName: key, algorithm, secretFile }, at) => ({
    name,
    server: new NameServer({ host, port, key: { name: key, algorithm, secret: secretIn(secretFile, at) } }),
    serverText: `${host} port ${port}`,
  }))

function secretIn(file: string, at: number): Buffer {
  const text = readFileSync(file, 'utf8').trim()
  const secret = Buffer.from(text, 'base64')
  if (secret.length === 0 || secret.toString('base64') !== text)
    throw new ConfigError(`dns.zones[${at}].secretFile: ${file} does not hold a secret in base64`)
  return secret
}
