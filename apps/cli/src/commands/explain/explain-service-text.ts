import { styleText } from 'node:util'
import type { Condition, Service } from '@spout/kube'
import { printable } from '@spout/runtime/printable'
import { colourStatus } from '../../output/status-colour.ts'

const PROGRAMMED = 'spout.dev/Programmed'
const OTHERS = ['spout.dev/Serving', 'spout.dev/ExternalIPs', 'LoadBalancerPortsError']

/** The status of a Service for people: whether it is programmed, its addresses, and what else the connector wrote. */
export function explainServiceText(service: Service, colour: boolean): string {
  const { metadata, spec, status } = service
  const title = `Service ${printable(`${metadata.namespace}/${metadata.name}`)}`
  const conditions = status?.conditions ?? []
  const programmed = conditions.find(({ type }) => type === PROGRAMMED)
  const addresses = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
  const lines = [
    `${colour ? styleText('bold', title) : title}: ${programmed === undefined ? whyNoStatus(service) : stateText(programmed, colour)}`,
    ...(programmed === undefined ? [] : [`  since   ${programmed.lastTransitionTime}`]),
    `  address ${addresses.length > 0 ? printable(addresses.join(', ')) : 'none'}`,
    `  wants   ${printable([...(spec.ipFamilies ?? []), spec.ipFamilyPolicy ?? ''].join(' ').trim()) || 'any family'}`,
    ...conditions
      .filter(({ type }) => OTHERS.includes(type))
      .map(({ type, status: is, reason, message }) => {
        const name = type.slice(type.indexOf('/') + 1)
        return `  ${name}: ${is}, ${printable(reason)}${message === '' ? '' : `. ${printable(message)}`}`
      }),
  ]
  return `${lines.join('\n')}\n`
}

const stateText = ({ status, reason, message }: Condition, colour: boolean): string =>
  `${colourStatus(status === 'True' ? 'programmed' : 'not programmed', colour)}, ${printable(reason)}. ${printable(message)}`

function whyNoStatus({ spec }: Service): string {
  if (spec.type !== 'LoadBalancer')
    return `it is of type ${printable(spec.type ?? 'ClusterIP')}; only type LoadBalancer is balanced`
  return spec.loadBalancerClass === undefined
    ? 'no connector has written a status: it has no class, so a connector balances it only if services.isDefault is set'
    : `no connector has written a status: its class is ${printable(spec.loadBalancerClass)}`
}
