import type { Finding } from '@spout/runtime/findings'
import type { Facts } from '../facts.ts'

/** Certificates of tenants that have expired or soon do. */
export function checkCertificates({ certificates }: Facts): readonly Finding[] {
  const found = certificates.flatMap(({ id, name, names, status }): readonly Finding[] => {
    if (status.state === 'valid') return []
    const level = status.state === 'expired' ? 'error' : 'warning'
    const fix = 'its project replaces it: spout certificate set NAME --chain FILE --key FILE'
    return [{ level, check: 'certificates', subject: name || names[0] || id, message: status.message, fix }]
  })
  const valid = certificates.filter(({ status }) => status.state === 'valid').length
  const message = `${valid} of ${certificates.length} certificates are valid for 30 days or more.`
  return [...found, { level: 'ok', check: 'certificates', subject: null, message, fix: null }]
}
