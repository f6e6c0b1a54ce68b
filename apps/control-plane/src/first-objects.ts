import { NOOP_POOL } from '@spout/intent-octavia'
import { announcerNamed, requiredSettings } from '@spout/model'
import type { Clock } from '@spout/runtime'
import { type Authenticator, bootstrap, bootstrapAccounts } from '@spout/server'
import { adminPassword } from './admin-password.ts'
import type { HomeCluster } from './cluster/home-cluster.ts'
import { ensurePodNetwork } from './cluster/pod-network.ts'
import type { ControlPlaneConfig } from './config.ts'
import type { ModelStore } from './model-store.ts'

/** Creates what must exist before the first request: the administrator, a node group, and the cluster's own objects. */
export async function ensureFirstObjects(
  config: ControlPlaneConfig,
  { admission, view }: ModelStore,
  {
    authenticator,
    home,
    clock,
  }: { readonly authenticator: Authenticator; readonly home: HomeCluster | null; readonly clock: Clock },
): Promise<void> {
  await bootstrap(
    { admission, view, passwords: authenticator.passwords, clock },
    {
      projectName: config.admin.project,
      userName: config.admin.user,
      password: adminPassword(config.stateDirectory, config.admin.password),
    },
  )
  if (view.list('nodeGroup').length === 0)
    await admission.createNodeGroup({
      name: 'default',
      description: 'Nodes without a group of their own',
      ...firstAnnouncer(config.nodes),
    })
  if (config.octavia.noop && !view.list('addressPool').some(({ name }) => name === NOOP_POOL.name))
    await admission.createAddressPool({
      name: NOOP_POOL.name,
      description: 'Addresses that nobody sees',
      cidr: NOOP_POOL.cidr,
      ranges: [NOOP_POOL.range],
      gatewayIp: null,
      projectIds: null,
      quarantineSeconds: 0,
    })
  await bootstrapAccounts({ admission, view, clock }, home?.serviceAccounts.accounts ?? [])
  if (home !== null) await ensurePodNetwork({ admission, view }, config.kubernetes)
}

/** The announcer, and its settings that have no default. */
function firstAnnouncer({ announcer, ...given }: ControlPlaneConfig['nodes']) {
  const { settings } = announcerNamed(announcer)
  const required = settings === undefined ? [] : requiredSettings(settings)
  if (required.length === 0) return { announcer }
  const values: Readonly<Record<string, unknown>> = given
  return {
    announcer,
    [announcer]: Object.fromEntries(required.map(({ field }) => [field, values[field] ?? undefined])),
  }
}
