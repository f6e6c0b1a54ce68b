import { loadBalancerClassChange, loadBalancerClassDraft } from '@spout/admission/contract'
import { type LoadBalancerClass, loadBalancerClass, mayUseClass } from '@spout/model'
import { isAdmin } from '../../authn/access.ts'
import { adminRoutes } from '../operations/admin-routes.ts'
import type { Collection } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import type { Route } from '../operations/route.ts'
import { readRoutes } from '../watches/read-routes.ts'

/** The class with the name of its node group. */
const shownClass = ({ view }: NativeContext, offered: LoadBalancerClass) => ({
  ...offered,
  nodeGroupName: view.get('nodeGroup', offered.nodeGroupId ?? '')?.value.name ?? null,
})

export const CLASSES: Collection<'loadBalancerClass'> = {
  kind: 'loadBalancerClass',
  path: '/load-balancer-classes',
  what: 'Load balancer class',
  access: 'reader',
  schema: loadBalancerClass,
  visible: (principal, offered) => isAdmin(principal) || mayUseClass(offered, principal.projectId),
  show: shownClass,
}

const classes = adminRoutes(CLASSES)
const draft = loadBalancerClassDraft.omit({ id: true, profileId: true })

export const loadBalancerClassRoutes: readonly Route[] = [
  ...readRoutes(CLASSES),
  classes.create(
    'Create a class that tenants make load balancers of; in Octavia it is a flavor',
    draft,
    ({ admission }, body) => admission.createLoadBalancerClass(body),
  ),
  classes.change(
    'Change a class; absent fields stay; its settings stay while a load balancer is of it',
    loadBalancerClassChange,
    ({ admission }, id, change) => admission.changeLoadBalancerClass(id, change),
  ),
  classes.delete('Delete a class that no load balancer is of', ({ admission }, id) =>
    admission.deleteLoadBalancerClass(id),
  ),
]
