import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type CertificatesReading, readCertificates } from '../readings/served-certificates.ts'

const FINDINGS = {
  PortSilent: {
    level: 'error',
    what: 'nobody answers on the port of the agent link, or on the API with TLS',
    why: 'Nodes go on with what they have and get no changes; clients get no answer.',
    fix: '`systemctl restart spout-control-plane`',
  },
  ServedCertificateEnds: {
    level: 'error',
    what: 'the certificate of the API or of the agent link has ended, or ends within a week',
    why: 'Clients and nodes refuse it then. One of the control plane itself is renewed after two thirds of its time: renewal fails.',
    fix: 'a new `api.certificateFile`; else `systemctl restart spout-control-plane`, and its log',
  },
  AuthorityEnds: {
    level: 'warning',
    what: 'the authority of the agent link ends within half a year',
    why: 'No node and no server certificate is valid longer than it. Every node must enrol again with a new one.',
    fix: 'plan it: stop the control plane, move `STATE/agent-link` away, start it, enrol every node again',
  },
} as const satisfies Catalogue

const DAY_MS = 86_400_000
const SOON_MS = 7 * DAY_MS
const HALF_YEAR_MS = 182 * DAY_MS

export function judgeCertificates({
  ports,
  authorityEnds,
  now,
}: CertificatesReading): readonly Found<keyof typeof FINDINGS>[] {
  const served = ports.flatMap(({ what, address, ends, error }): readonly Found<keyof typeof FINDINGS>[] => {
    const fix = 'systemctl restart spout-control-plane; journalctl -u spout-control-plane'
    if (ends === null) return [{ code: 'PortSilent', subject: `${what} ${address}`, message: `${error}.`, fix }]
    if (ends.getTime() - now.getTime() > SOON_MS) return []
    const message = `Its certificate ends ${ends.toISOString()}.`
    return [{ code: 'ServedCertificateEnds', subject: `${what} ${address}`, message, fix }]
  })
  if (authorityEnds === null || authorityEnds.getTime() - now.getTime() > HALF_YEAR_MS) return served
  const authority: Found<'AuthorityEnds'> = {
    ...{ code: 'AuthorityEnds', subject: null, message: `It ends ${authorityEnds.toISOString()}.` },
    fix: 'plan to enrol every node again: docs/operations.md, "State"',
  }
  return [...served, authority]
}

export const servedCertificates = checkOf({
  name: 'certificates',
  catalogue: FINDINGS,
  read: readCertificates,
  judge: judgeCertificates,
  right: ({ ports }) =>
    ports.length === 0
      ? 'Another control plane leads, so this one shows no certificate to nodes.'
      : `${ports.map(({ what }) => what).join(' and ')} show certificates that are valid for a week or more.`,
})
