import type { Admission, ModelView } from '@spout/admission/contract'
import { QUOTA_RESOURCES } from '@spout/model'
import { ensureClusterProject } from '@spout/server'
import type { ControlPlaneConfig } from '../config.ts'

/**
 * Creates the network of the cluster's pods, for the project that balances its Services, and gives that project ample
 * limits. It is created if none has its name. From then on it is left to the administrator.
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
      returnPath: network.returnPath,
      segment: { physicalNetwork: network.physicalNetwork, vlan: null },
    }))
  for (const { cidr, router } of network.links)
    if (!subnets.some((one) => one.cidr === cidr))
      await admission.addSubnet(id, { name: 'link', description: '', cidr, gatewayIp: router, nodeRange: null })
}

/** Physical networks that are the nodes themselves, as far as the control plane knows: that of the pods. */
export const hostSegmentsOf = ({
  kubernetes: { network },
}: Pick<ControlPlaneConfig, 'kubernetes'>): readonly string[] => (network === null ? [] : [network.physicalNetwork])

/** Limits must be finite. The cluster's own quotas limit its Services. */
const AMPLE = Object.fromEntries(
  QUOTA_RESOURCES.filter((resource) => resource !== 'bytes').map((resource) => [resource, 1_000_000]),
)
