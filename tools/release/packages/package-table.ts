/** A program of `apps/`. */
export type App = 'agent' | 'cli' | 'connector' | 'control-plane'

/** A Debian package of ours, as data. Everything else of it follows: files, control file, maintainer scripts. */
export interface DebianPackage {
  readonly name: string
  readonly summary: string
  readonly description: readonly string[]
  /** Packages of Debian that it needs, with versions where they matter. */
  readonly needs: readonly string[]
  /** Whether it needs the package `spout` of the same version, which has Node.js. */
  readonly needsRuntime: boolean
  readonly program: App
  /** Whether the program serves the web page. */
  readonly page: boolean
  /** What administrators type to start the program; null where only others start it. */
  readonly command: string | null
  /** C programs of native/. */
  readonly native: readonly string[]
  readonly service: ServiceFiles | null
}

/** A package's unit and what belongs to it on a machine. */
export interface ServiceFiles {
  /** File of `deploy/systemd`. */
  readonly unit: string
  /** Its settings, a file of `deploy/systemd` too; installed in `/etc/spout` as a conffile. */
  readonly settings: string
  /** What `apt purge` removes besides conffiles: state, caches and files that an administrator made in `/etc/spout`. */
  readonly purged: readonly string[]
  /** Whether processes outlive the unit's main process, which `apt remove` then ends too. */
  readonly hasDaemons: boolean
}

/** Of Debian 12, on which the C programs are linked. */
const LIBRARIES_OF_NODE = ['libatomic1', 'libc6 (>= 2.36)', 'libgcc-s1', 'libstdc++6']
const LIBRARIES_OF_NATIVE = ['libc6 (>= 2.36)', 'libcrypt1', 'libmnl0', 'libnftables1', 'libssl3']

export const PACKAGES: readonly DebianPackage[] = [
  {
    name: 'spout',
    summary: 'command line of the load-balancer service Spout',
    description: [
      'The command spout for users and operators, with completion for bash, zsh and fish, and the manual.',
      'It contains the Node.js that the other packages of Spout run on; nothing else uses it.',
    ],
    needs: LIBRARIES_OF_NODE,
    needsRuntime: false,
    program: 'cli',
    page: false,
    command: '/usr/bin/spout',
    native: [],
    service: null,
  },
  {
    name: 'spout-control-plane',
    summary: 'control plane of the load-balancer service Spout',
    description: [
      'Takes intent by the web page, the native API, the Octavia API and others, stores it, and plans what each node does.',
      'The service is not started before you have set its names and networks: see installing.md of package spout.',
    ],
    needs: ['ca-certificates', 'openssl'],
    needsRuntime: true,
    program: 'control-plane',
    page: true,
    command: '/usr/sbin/spout-control-plane',
    native: [],
    service: {
      unit: 'spout-control-plane.service',
      settings: 'control-plane.yaml',
      // The directories of a dynamic user are links into those named private.
      purged: [
        ...['/var/lib/spout', '/var/lib/private/spout', '/var/cache/spout', '/var/cache/private/spout'],
        '/etc/spout/control-plane.env',
      ],
      hasDaemons: false,
    },
  },
  {
    name: 'spout-node',
    summary: 'agent of a load-balancer node of Spout',
    description: [
      'Carries load balancers with nftables and HAProxy, checks their members, and announces their addresses with',
      'keepalived or BIRD. It starts these itself, so their own services must not run on the machine.',
      'The service is not started before you have named the control plane: see installing.md of package spout.',
    ],
    needs: [
      ...LIBRARIES_OF_NATIVE,
      ...['bird2', 'haproxy (>= 2.6)', 'iproute2', 'keepalived', 'kmod', 'nftables', 'procps'],
    ],
    needsRuntime: true,
    program: 'agent',
    page: false,
    command: '/usr/sbin/spout-agent',
    native: ['spout-flows', 'spout-helper', 'spout-mover', 'spout-passwords', 'spout-syslog'],
    service: {
      unit: 'spout-agent.service',
      settings: 'agent.yaml',
      purged: ['/var/lib/spout-agent', '/var/cache/spout-agent', '/run/spout', '/etc/spout/enrolment-token'],
      hasDaemons: true,
    },
  },
  {
    name: 'spout-connector',
    summary: 'connector of a Kubernetes cluster to Spout',
    description: [
      'Makes load balancers of the Services, Ingresses and Gateways of a Kubernetes cluster. It has no unit: a cluster',
      "runs it from the image of Spout, and /usr/lib/spout/connector/main.js runs on this package's Node.js elsewhere.",
    ],
    needs: ['ca-certificates'],
    needsRuntime: true,
    program: 'connector',
    page: false,
    command: null,
    native: [],
    service: null,
  },
]

/** Names of Debian's packages that some of ours need, without versions, sorted. */
export const debianNeeds = (packages: readonly DebianPackage[] = PACKAGES): readonly string[] =>
  [...new Set(packages.flatMap(({ needs }) => needs.map((need) => need.split(' ')[0] ?? '')))].sort()
