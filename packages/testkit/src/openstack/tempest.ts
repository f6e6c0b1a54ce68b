import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface TempestTarget {
  /** The URL of the identity service, with `/v3`. */
  readonly identityUrl: string
  readonly admin: { readonly user: string; readonly password: string; readonly project: string }
  readonly rbac: keyof typeof RBAC
  /** Where nodes carry the load balancers; without it the server is in noop mode. */
  readonly live?: LiveTarget
}

/** What the plugin must know of a system whose nodes carry load balancers. */
export interface LiveTarget {
  /**
   * Subnets of VIPs and members, which each class of cases creates. The first address of each is the gateway, so none of
   * the plugin's members (192.0.2.1, 2001:db8::1 and so on) may be that.
   */
  readonly cidr: string
  /** Null leaves out the cases with IPv6 VIPs, and 30 s of each class: tempest sleeps 10 s before it deletes a subnet. */
  readonly ipv6Cidr: string | null
  /** Names of node groups. */
  readonly zones: Zones
}

type Zones = readonly [string, string, string]

/** The plugin's types of roles, with the roles that its users get. */
const RBAC = {
  owner_or_admin: ['member', 'admin', 'reader', 'reader'],
  keystone_default_roles: ['member', 'load-balancer_admin', 'reader', 'reader'],
  advanced: ['load-balancer_member', 'load-balancer_admin', 'load-balancer_observer', 'load-balancer_global_observer'],
} as const

export interface TempestOutcome {
  readonly result: 'ok' | 'FAILED' | 'SKIPPED'
  /** Why it was skipped; else empty. */
  readonly reason: string
}

/** Settings of the run. Octavia's own job has the zones and waits for seconds; this server needs less time. */
function settings({ identityUrl, admin, rbac, live }: TempestTarget, directory: string): string {
  const [member, administrator, observer, globalObserver] = RBAC[rbac]
  const zones: Zones = live?.zones ?? ['bogus-az-1', 'bogus-az-2', 'bogus-az-3']
  const timeout = live === undefined ? 60 : 120
  // The plugin runs live only where these are; its cases of the API call none but neutron.
  const otherServices = live === undefined ? 'False' : 'True'
  return `
[oslo_concurrency]
lock_path = ${directory}
[auth]
use_dynamic_credentials = True
create_isolated_networks = False
admin_username = ${admin.user}
admin_password = ${admin.password}
admin_project_name = ${admin.project}
admin_domain_name = Default
[identity]
uri_v3 = ${identityUrl}
auth_version = v3
region = RegionOne
[network]
project_networks_reachable = True
[service_available]
nova = ${otherServices}
glance = ${otherServices}
cinder = False
neutron = ${otherServices}
swift = False
load_balancer = True
[load_balancer]
test_with_noop = ${live === undefined ? 'True' : 'False'}
${live === undefined ? '' : networkSettings(live)}provider = amphora
RBAC_test_type = ${rbac}
member_role = ${member}
admin_role = ${administrator}
observer_role = ${observer}
global_observer_role = ${globalObserver}
check_interval = 0.2
check_timeout = ${timeout}
build_interval = 0.2
build_timeout = ${timeout}
lb_build_interval = 0.2
lb_build_timeout = ${timeout}
availability_zone = ${zones[0]}
availability_zone2 = ${zones[1]}
availability_zone3 = ${zones[2]}
enabled_provider_drivers = amphora:Spout (the name that clients send unasked),octavia:Spout (a deprecated name of the amphora driver),amphorav2:Spout (a deprecated name of the amphora driver),spout:Spout
expected_flavor_capability = loadbalancer_topology:Both are taken and served as ACTIVE_STANDBY
expected_availability_zone_capability = compute_zone:Name or id of the node group that carries the load balancers
[loadbalancer-feature-enabled]
not_implemented_is_error = True
terminated_tls_enabled = True
`
}

const networkSettings = ({ cidr, ipv6Cidr }: LiveTarget): string => `vip_subnet_cidr = ${cidr}
test_with_ipv6 = ${ipv6Cidr === null ? 'False' : 'True'}
${ipv6Cidr === null ? '' : `vip_ipv6_subnet_cidr = ${ipv6Cidr}\n`}`

/** What `tempest init` would write after some seconds of loading all of tempest. */
const WORKSPACE = `[DEFAULT]
test_path=/usr/lib/python3/dist-packages/tempest/test_discover
top_dir=/usr/lib/python3/dist-packages/tempest
group_regex=([^\\.]*\\.)*
`

/**
 * Runs cases of Debian's unmodified octavia-tempest-plugin.
 * @param pattern a regular expression of their full names
 * @returns the outcome of each by its name; a class that could not be set up is `setUpClass (name)`
 */
export async function runTempest(target: TempestTarget, pattern: string): Promise<ReadonlyMap<string, TempestOutcome>> {
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-tempest-'))
  try {
    mkdirSync(path.join(directory, 'etc'))
    writeFileSync(path.join(directory, 'etc', 'tempest.conf'), settings(target, directory))
    writeFileSync(path.join(directory, '.stestr.conf'), WORKSPACE)
    const said = await run(['run', '--concurrency', '1', '--regex', pattern], directory)
    const outcomes = new Map<string, TempestOutcome>()
    for (const [, name, result, reason = ''] of said.matchAll(LINE))
      outcomes.set(name!, { result: result as TempestOutcome['result'], reason })
    if (outcomes.size === 0) throw new Error(`tempest ran nothing: ${said.slice(-2_000)}`)
    return outcomes
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** `{0} name [1.2s] ... ok`, or without a time `... SKIPPED: reason`. */
const LINE = /^\{\d+\} (.+?)(?: \[[^\]]*\])? \.\.\. (ok|FAILED|SKIPPED)(?:: (.*))?$/gm

const run = (argv: readonly string[], cwd: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const env = { PATH: '/usr/bin:/bin', HOME: cwd, LC_ALL: 'C.UTF-8', no_proxy: '*' }
    const child = spawn('/usr/bin/tempest', argv, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const parts: string[] = []
    child.stdout.setEncoding('utf8').on('data', (text) => parts.push(text))
    child.stderr.setEncoding('utf8').on('data', (text) => parts.push(text))
    child.once('error', reject)
    child.once('close', () => resolve(parts.join('')))
  })
