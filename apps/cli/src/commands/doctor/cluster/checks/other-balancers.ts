import type { Catalogue, Found } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import { type OtherBalancersReading, readOtherBalancers } from '../readings/other-balancers.ts'

const FINDINGS = {
  ServicesManagedTwice: {
    level: 'error',
    what: 'another controller (MetalLB, kube-vip, ServiceLB of K3s, a cloud controller manager) takes Services without a class, as our connector does',
    why: 'Each writes its own address over that of the other.',
    fix: 'stop the other (migrating-from-metallb.md), or `services.isDefault: false` of the connector',
  },
  PoolShared: {
    level: 'error',
    what: 'MetalLB announces, and a pool of it has addresses of an AddressPool',
    why: 'Both give out the same address, and both answer for it.',
    fix: '`kubectl edit ipaddresspool`: other addresses; or stop MetalLB (migrating-from-metallb.md)',
  },
  AddressTwice: {
    level: 'error',
    what: 'a Service of ours and one of another controller show the same address',
    why: 'Both announce it: a part of the clients reaches the other Service.',
    fix: '`kubectl describe service NAME`: one of them has to ask for another address',
  },
} as const satisfies Catalogue
type Finding = Found<keyof typeof FINDINGS>

export function judgeOtherBalancers(reading: OtherBalancersReading): readonly Finding[] {
  const { isDefault, others, announces, shared, twice } = reading
  return [
    ...(isDefault ? others : []).map(({ name, workload, namespace }): Finding => {
      const message = `It is ${name}, and takes Services without a class, as our connector does.`
      const stop = workload.startsWith('deployment/')
        ? `kubectl --namespace ${namespace} scale ${workload} --replicas 0`
        : `kubectl --namespace ${namespace} describe ${workload}`
      const fix = `${stop} (docs/migrating-from-metallb.md); or services.isDefault: false of the connector`
      return { code: 'ServicesManagedTwice', subject: `${namespace} ${workload}`, message, fix }
    }),
    ...(announces ? shared : []).map(({ pool, other, addresses }): Finding => {
      const message = `MetalLB's pool ${other} has ${addresses}, too, and MetalLB announces.`
      return { code: 'PoolShared', subject: pool, message, fix: 'docs/migrating-from-metallb.md, "The switch"' }
    }),
    ...twice.map(({ address, ours, other }): Finding => {
      const message = `Services ${ours}, which is ours, and ${other}, which is not, show it.`
      const [namespace, name] = other.split('/')
      const fix = `kubectl --namespace ${namespace} describe service ${name}`
      return { code: 'AddressTwice', subject: address, message, fix }
    }),
  ]
}

export const otherBalancers = clusterCheckOf({
  name: 'other balancers',
  catalogue: FINDINGS,
  read: readOtherBalancers,
  judge: judgeOtherBalancers,
  right: ({ others }) =>
    others.length === 0
      ? 'None is seen.'
      : `${others.map(({ name }) => name).join(', ')} and our connector do not meet.`,
})
