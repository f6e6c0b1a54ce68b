/** Annotations that the connector reads, each with one valid value. */
const READ = {
  'spout.dev/load-balancer-ips': '198.51.100.77',
  'spout.dev/address-pool': 'public',
  'spout.dev/allow-shared-ip': 'key',
  'spout.dev/share-with-namespaces': 'default',
  'spout.dev/mode': 'direct',
  'spout.dev/monitor': 'tcp',
  'spout.dev/monitor-delay': '1s',
  'spout.dev/monitor-timeout': '500ms',
  'spout.dev/monitor-retries': '3',
  'spout.dev/drain-time': '3s',
  'spout.dev/prefer-zone': 'a',
  'spout.dev/managed-by': 'spout.dev/load-balancer',
  'service.beta.kubernetes.io/load-balancer-source-ranges': '0.0.0.0/0',
} as const

/** Texts that have broken configuration readers elsewhere (reference S1), appended to a valid value. */
export const HOSTILE_TEXTS = {
  'a line of its own': '\n  server evil 10.0.0.1:80\n',
  'NUL and controls': '\0\r\t\u0085\u2028',
  'quotes and brackets': `"'#\\{}[];\`$(reboot)`,
  'percent forms': '%0a%0d%0a%00%22',
  'very long': 'x'.repeat(70_000),
} as const

export interface HostileService {
  readonly name: string
  readonly field: string
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: object
}

/** One Service for each field and text. The API server may refuse fields of the spec, which is fine too. */
export const hostileServices = (): readonly HostileService[] => {
  const texts = Object.values(HOSTILE_TEXTS)
  const annotated = Object.entries(READ).flatMap(([field, value]) =>
    texts.map((text) => ({ field, annotations: { [field]: value + text }, spec: {} })),
  )
  const specified = texts.flatMap((text) =>
    [
      { loadBalancerIP: `198.51.100.78${text}` },
      { loadBalancerSourceRanges: [`0.0.0.0/0${text}`] },
      { loadBalancerClass: `spout.dev/load-balancer${text}` },
      { externalIPs: [`198.51.100.79${text}`] },
      { ports: [{ name: `http${text}`, port: 80, protocol: 'TCP', appProtocol: `example.org/http${text}` }] },
      { ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: `http${text}` }] },
      { selector: { app: `web${text}` } },
    ].map((spec) => ({ field: Object.keys(spec).join(), annotations: {}, spec })),
  )
  return [...annotated, ...specified].map((one, at) => ({ ...one, name: `hostile-${at}` }))
}

export interface ImpossibleService {
  readonly name: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: object
  /** Reason of condition `spout.dev/Programmed`, which is False. */
  readonly reason: string
}

export const IMPOSSIBLE: readonly ImpossibleService[] = [
  { name: 'outside', spec: { loadBalancerIP: '192.0.2.7' }, reason: 'AddressNotInPool' },
  { name: 'no-address', spec: { loadBalancerIP: 'web.example.org' }, reason: 'InvalidAddress' },
  {
    name: 'wrong-family',
    annotations: { 'spout.dev/load-balancer-ips': '2001:db8:f::100' },
    reason: 'AddressFamilyMismatch',
  },
  { name: 'no-pool', annotations: { 'spout.dev/address-pool': 'nowhere' }, reason: 'PoolNotFound' },
  { name: 'mode', annotations: { 'spout.dev/mode': 'teleport' }, reason: 'InvalidAnnotation' },
  { name: 'six', spec: { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' }, reason: 'NoSubnet' },
  { name: 'both', spec: { ipFamilyPolicy: 'RequireDualStack' }, reason: 'NoSubnet' },
  {
    name: 'two-names',
    annotations: { 'spout.dev/allow-shared-ip': 'a', 'metallb.io/allow-shared-ip': 'b' },
    reason: 'InvalidAnnotation',
  },
]
