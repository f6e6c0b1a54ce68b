import type { ModelView } from '@spout/admission/contract'
import { type CertificateValidity, validityOf } from '@spout/model'
import type { Clock } from '@spout/runtime'
import type { Metrics } from '@spout/runtime/metrics'

const STATES: readonly CertificateValidity['state'][] = ['valid', 'not-yet-valid', 'expiring', 'expired']

/** Metrics of tenants' certificates, read at scrape time: one series for each state, none for each certificate. */
export function describeTenantCertificates(
  metrics: Metrics,
  { view, clock, unopened }: { readonly view: ModelView; readonly clock: Clock; readonly unopened: () => number },
): void {
  metrics.gauge(
    {
      name: 'spout_certificates',
      help: "Tenants' certificates by validity; `expiring` ends within 30 days",
      labels: ['state'],
    },
    () => {
      const counts = new Map(STATES.map((state) => [state, 0]))
      const nowMs = clock.now().getTime()
      for (const certificate of view.list('certificate')) {
        const { state } = validityOf(certificate, nowMs)
        counts.set(state, (counts.get(state) ?? 0) + 1)
      }
      return [...counts].map(([state, value]) => ({ labels: { state }, value }))
    },
  )
  metrics.gauge(
    {
      name: 'spout_certificates_unopened',
      help: 'Certificates whose private key no configured sealing key opens, as found at the start: 0 is right',
      labels: [],
    },
    () => [{ labels: {}, value: unopened() }],
  )
}
