import type { NativeLoadBalancers } from '@spout/connector'
import type { ConfiguredProject } from './projects.ts'

/** A project whose credential the control plane knows. */
export interface NamedProject {
  readonly project: ConfiguredProject
  readonly projectId: string
  readonly service: NativeLoadBalancers
}

/** A named project whose load balancers were read. */
export interface OpenedProject extends NamedProject {
  readonly loadBalancers: Awaited<ReturnType<NativeLoadBalancers['list']>>
}
