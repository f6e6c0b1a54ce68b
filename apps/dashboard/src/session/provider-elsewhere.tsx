import { useProviderName } from './provider-login.tsx'

/**
 * The way to log in by the OpenID Connect provider without leaving this page, on which something may be typed. The page
 * goes on when its user comes back to it.
 */
export function ProviderElsewhere() {
  const name = useProviderName()
  if (name === null) return null
  return (
    <p>
      Or{' '}
      <a href="/ui/" target="_blank" rel="noopener">
        log in with <bdi>{name}</bdi> in a new tab
      </a>
      , and come back here.
    </p>
  )
}
