import { type CertificateSight, type OrRefusal, type Refusal, refuse, shown } from '@spout/connector'
import type { Service } from '@spout/kube'
import { annotation, fieldOf, listAnnotation } from './annotations.ts'
import type { BalancedPort } from './ports.ts'

/** How TCP ports of a Service terminate TLS. */
export interface TlsOfService {
  readonly certificateId: string
  readonly endsTls: (port: BalancedPort) => boolean
  /** What the user should know although the port is served. */
  readonly notice: Refusal | null
}

/** The key of the Secret that a Service names; null when it names none. */
export function secretOf(service: Service): string | null {
  const name = annotation(service, 'tlsSecret')
  if ('refusal' in name || name.value === null) return null
  return `${service.metadata.namespace ?? ''}/${name.value}`
}

/**
 * How a Service's TCP ports terminate TLS: all of them, or those that `spout.dev/tls-ports` names. Null: none do.
 * @param certificateOf the certificate of a Secret, by its key
 */
export function tlsOf(
  service: Service,
  ports: readonly BalancedPort[],
  certificateOf: (key: string) => CertificateSight,
): OrRefusal<TlsOfService | null> {
  const name = annotation(service, 'tlsSecret')
  if ('refusal' in name) return name
  const named = listAnnotation(service, 'tlsPorts')
  if ('refusal' in named) return named
  if (name.value === null) {
    if (named.value === null) return { value: null }
    return refuse('InvalidAnnotation', fieldOf('tlsPorts'), `It needs ${fieldOf('tlsSecret')}.`)
  }
  const isNamed = ({ name: own, port }: BalancedPort) =>
    named.value === null || named.value.some((one) => one === own || one === String(port))
  const unknown = named.value?.find(
    (one) => !ports.some((port) => isTcp(port) && (one === port.name || one === String(port.port))),
  )
  if (unknown !== undefined)
    return refuse('InvalidAnnotation', fieldOf('tlsPorts'), `The Service has no TCP port ${shown(unknown)}.`)
  const sight = certificateOf(secretOf(service) ?? '')
  if (sight.type === 'waits') return refuse('TlsSecretAwaited', fieldOf('tlsSecret'), 'Its Secret is being read.')
  if (sight.type === 'refused') return { refusal: inField(sight.refusal) }
  return {
    value: {
      certificateId: sight.certificate.id,
      endsTls: (port) => isTcp(port) && isNamed(port),
      notice: sight.notice === null ? withoutTls(ports, named.value === null) : inField(sight.notice),
    },
  }
}

const isTcp = ({ transport }: BalancedPort): boolean => transport === 'tcp'

const inField = ({ reason, field, message }: Refusal): Refusal => ({
  reason,
  field: fieldOf('tlsSecret'),
  message: `${field}: ${message}`,
})

/** A notice about ports that cannot terminate TLS, when the Service asks for it on all its ports. */
function withoutTls(ports: readonly BalancedPort[], all: boolean): Refusal | null {
  const others = ports.filter((port) => !isTcp(port)).map(({ key }) => key)
  if (!all || others.length === 0) return null
  return { reason: 'TlsIgnored', field: fieldOf('tlsSecret'), message: `${others.join(', ')}: only TCP ports end TLS.` }
}
