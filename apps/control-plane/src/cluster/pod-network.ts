import type { Admission, ModelView } from '@spout/admission/contract'
import { QUOTA_RESOURCES } from '@spout/model'
import { ensureClusterProject } from '@spout/server'
import type { ControlPlaneConfig } from '../config.ts'

/**
 * The network of the cluster's pods, for the project that balances its Services, and no limits to that project but the
 * cluster's own: made when there is none of its name, and left to the administrator from then on.
 */
export async function ensurePodNetwork(
  { admission, view }: { readonly admission: Admission; readonly view: ModelView },
  { network }: ControlPlaneConfig['kubernetes'],
): Promise<void> {
  if (network === null) return
  const project = await ensureClusterProject({ admission, view }, network.project)
  const present = view.list('network').find(({ projectId, name }) => projectId === project.id && name === network.name)
  if (present === undefined) await admission.setQuota(project.id, AMPLE)
  const { id, subnets } =
    present ??
    (await admission.createNetwork({
      projectId: project.id,
      name: network.name,
      description: 'Pods of the cluster, by way of each node itself',
      returnPath: 'snat',
      segment: { physicalNetwork: network.physicalNetwork, vlan: null },
    }))
  for (const { cidr, router } of network.links)
    if (!subnets.some((one) => one.cidr === cidr))
      await admission.addSubnet(id, { name: 'link', description: '', cidr, gatewayIp: router, nodeRange: null })
}

/** Every limit is finite; its Services are counted by the cluster's own quotas. */
const AMPLE = Object.fromEntries(
  QUOTA_RESOURCES.filter((resource) => resource !== 'bytes').map((resource) => [resource, 1_000_000]),
)
