import { Link, type LinkProps } from '@tanstack/react-router'
import type { Rights } from '../session/rights.ts'
import { useSession } from '../session/session-context.ts'
import styles from './navigation.module.css'

interface Place {
  readonly to: LinkProps['to']
  readonly title: string
  /** The right that the page needs; absent: everybody has it. */
  readonly needs?: keyof Rights
}

const PLACES: readonly { readonly title: string; readonly places: readonly Place[] }[] = [
  {
    title: 'Project',
    places: [
      { to: '/load-balancers', title: 'Load balancers' },
      { to: '/networks', title: 'Networks' },
      { to: '/certificates', title: 'Certificates' },
      { to: '/explain', title: 'Explain' },
      { to: '/project', title: 'Project' },
    ],
  },
  {
    title: 'Operator',
    places: [
      { to: '/problems', title: 'Problems', needs: 'operate' },
      { to: '/nodes', title: 'Nodes', needs: 'operate' },
      { to: '/address-pools', title: 'Address pools', needs: 'operate' },
      { to: '/projects', title: 'Projects', needs: 'operate' },
      { to: '/audit', title: 'Audit log', needs: 'operate' },
    ],
  },
]

/** The pages that the session's roles allow. */
export function Navigation() {
  const { may } = useSession()
  return (
    <nav aria-label="Pages" className={styles.nav}>
      {PLACES.map(({ title, places }) => {
        const shown = places.filter(({ needs }) => needs === undefined || may[needs])
        return (
          shown.length > 0 && (
            <div key={title} className={styles.group}>
              <span className={styles.title} aria-hidden="true">
                {title}
              </span>
              <ul className={styles.list}>
                {shown.map((place) => (
                  <li key={place.to}>
                    <Link to={place.to} className={styles.link} activeProps={{ className: styles.here }}>
                      {place.title}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          )
        )
      })}
    </nav>
  )
}
