import { readFileSync } from 'node:fs'
import path from 'node:path'
import { loadBalancer } from '@spout/model'
import { expect, it } from 'vitest'
import { labFiles, nameOf, type Option, optionsOf, type SchemaNode, writtenIn } from './offered-options.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const HAPROXY = 'packages/dataplane/src/drivers/haproxy'
const WORDS = `${HAPROXY}/route-words.lab.test.ts`

/** Options whose effect no packet or request shows. */
const WITHOUT_EFFECT: readonly (readonly [options: RegExp, because: string])[] = [
  [/^(createdAt|updatedAt|addressId|leftNodeId|localName)$/, 'the control plane writes it'],
  [/^(addressText|monitorAddressText)$/, 'is how a client wrote an address, for that client'],
  [/^zoneId$/, 'stands for a node group and limits, as a class does'],
  [/^type cors: methods CONNECT$/, 'scripts cannot send it (Fetch standard, forbidden methods)'],
]

/** Options that lab tests write in another way: as nodes have them, as Octavia names them, or by a list of the model. */
const OTHERWISE: readonly (readonly [options: RegExp, file: string, text: string])[] = [
  [/^(on method: values|type cors: methods) (?!CONNECT)/, WORDS, 'const METHODS = HTTP_METHODS.filter'],
  [/^type cors: exposeHeaders \*$/, WORDS, "exposeHeaders: ['*']"],
  [/^(type respond: )?code /, WORDS, '...RESPONSE_CODES.map('],
  [/^type redirect: (code|scheme) /, WORDS, 'REDIRECT_CODES.flatMap('],
  [/^method /, `${HAPROXY}/authorizers.lab.test.ts`, 'HTTP_METHODS.filter'],
  [/^on client-name: compare /, `${HAPROXY}/client-certificates.lab.test.ts`, "named({ compare: 'regex'"],
  [/^clientCertificates$/, `${HAPROXY}/client-certificates.lab.test.ts`, 'clients:'],
  [/^crlCertificateId$/, `${HAPROXY}/client-certificates.lab.test.ts`, 'revocations:'],
  [/^insertHeaders x-ssl-/, `${HAPROXY}/client-certificates.lab.test.ts`, 'x-ssl-client-not-after'],
  [/^transport udp$/, 'packages/dataplane/src/syslog/syslog-senders.lab.test.ts', "transport === 'udp'"],
  [/^protocol tcp-proxy-v2$/, `${HAPROXY}/tls-passthrough.lab.test.ts`, "proxyProtocol: 'v2'"],
  [
    /^type source-ip: networks$/,
    'packages/dataplane/src/drivers/nftables/client-networks.lab.test.ts',
    'clientNetworks: { ipv4Prefix: 28 }',
  ],
  [/^type cookie$/, `${HAPROXY}/sessions.lab.test.ts`, "by: 'cookie'"],
  [/^type application-cookie$/, `${HAPROXY}/sessions.lab.test.ts`, "by: 'application-cookie'"],
  [/^type forward: satisfy (all|any)$/, `${HAPROXY}/authorizers-with-passwords.lab.test.ts`, 'asking({ satisfy })'],
  [/^type ping$/, 'packages/dataplane/src/checks/checks.lab.test.ts', 'ping: {'],
  [/^classId$/, `${HAPROXY}/dedicated-proxy.lab.test.ts`, 'dedicatedProxy'],
]

const without = ({ value, ...option }: Option): Option =>
  value === undefined ? { ...option, within: undefined, value } : { ...option, value }

it('whatever a load balancer can ask for is in a lab test', { timeout: 60_000 }, () => {
  const options = optionsOf(loadBalancer.toJSONSchema({ io: 'input', unrepresentable: 'any' }) as SchemaNode)
  expect(options.length).toBeGreaterThan(300)
  const written = writtenIn(labFiles(ROOT), ROOT)
  const unnamed = options.filter((option) => !written.has(nameOf(without(option)))).map(nameOf)
  const rows = [...WITHOUT_EFFECT, ...OTHERWISE].map(([pattern]) => pattern)
  expect(unnamed.filter((name) => !rows.some((row) => row.test(name)))).toEqual([])
  expect(rows.filter((row) => !unnamed.some((name) => row.test(name))).map(String)).toEqual([])
})

it.each(OTHERWISE)('%s is in %s as %s', (_, file, text) =>
  expect(readFileSync(path.join(ROOT, file), 'utf8').includes(text)).toBe(true),
)

it('reads fields, words and what chooses an object from a schema', () => {
  const schema: SchemaNode = {
    properties: {
      protocol: { enum: ['a', 'b'] },
      parts: {
        items: {
          oneOf: [
            { properties: { type: { const: 'x' }, how: { enum: ['fast', 'slow'] } } },
            { properties: { type: { const: 'y' }, size: {} } },
          ],
        },
      },
    },
  }
  expect(optionsOf(schema).map(nameOf)).toEqual([
    ...['protocol', 'protocol a', 'protocol b', 'parts'],
    ...['type x', 'type x: how', 'type x: how fast', 'type x: how slow', 'type y', 'type y: size'],
  ])
})
