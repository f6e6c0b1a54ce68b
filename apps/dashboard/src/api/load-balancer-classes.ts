import type { LoadBalancerClass } from '@spout/model'
import { ask } from './ask.ts'

/** All classes for an administrator; others see those that their project may use. */
export const listClasses = async (signal: AbortSignal): Promise<readonly LoadBalancerClass[]> =>
  (await ask<{ readonly items: readonly LoadBalancerClass[] }>('GET', '/load-balancer-classes', { signal })).items
