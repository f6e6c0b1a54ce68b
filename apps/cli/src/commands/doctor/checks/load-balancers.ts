import type { Finding } from '@spout/runtime/findings'
import type { Facts, ShownLoadBalancer } from '../facts.ts'

/** Load balancers that nodes cannot carry. That members are down is their tenants' matter, and a notice. */
export function checkLoadBalancers({ loadBalancers }: Facts): readonly Finding[] {
  const failed = loadBalancers.filter(({ status }) => status.provisioning === 'error')
  const silent = loadBalancers.filter(
    ({ status: { serving } }) => serving.state === 'no' && serving.reason === 'AllMembersDown',
  )
  const active = loadBalancers.filter(({ status }) => status.provisioning === 'active').length
  return [
    ...byReason(failed),
    ...(silent.length === 0 ? [] : [membersDown(silent)]),
    {
      ...{ level: 'ok', check: 'load balancers', subject: null, fix: null },
      message: `${active} of ${loadBalancers.length} load balancers are active.`,
    },
  ]
}

/** One finding for each reason: what keeps one of them out may keep out a thousand. */
const byReason = (failed: readonly ShownLoadBalancer[]): readonly Finding[] =>
  [...Map.groupBy(failed, ({ status }) => status.reason).values()].map((alike) => {
    const [{ id, name, status }] = alike as [ShownLoadBalancer]
    const more = alike.length === 1 ? '' : ` ${alike.length - 1} more have the reason ${status.reason}.`
    return {
      ...{ level: 'error', check: 'load balancers', subject: name || id },
      message: `${status.message} (${status.reason})${more}`,
      fix: `spout explain lb ${name || id}`,
    }
  })

function membersDown(silent: readonly ShownLoadBalancer[]): Finding {
  const names = silent.slice(0, 5).map(({ id, name }) => name || id)
  const more = silent.length > names.length ? ` and ${silent.length - names.length} more` : ''
  return {
    ...{ level: 'notice', check: 'load balancers', subject: null, fix: 'docs/runbook.md, "Members are down"' },
    message: `No member answers behind ${names.join(', ')}${more}.`,
  }
}
