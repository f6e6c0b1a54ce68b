import { Link, Outlet } from '@tanstack/react-router'
import { Brand } from '../parts/brand.tsx'
import { SessionMenu } from '../session/session-menu.tsx'
import styles from './frame.module.css'
import { LiveLight } from './live-light.tsx'
import { Navigation } from './navigation.tsx'

/** What stands around every page. */
export const Frame = () => (
  <div className={styles.frame}>
    <a href="#content" className={styles.skip}>
      Skip to the content
    </a>
    <header className={styles.top}>
      <Link to="/load-balancers" className={styles.home} aria-label="Spout: load balancers">
        <Brand />
      </Link>
      <LiveLight />
      <SessionMenu />
    </header>
    <div className={styles.side}>
      <Navigation />
    </div>
    <main id="content" className={styles.content} tabIndex={-1}>
      <Outlet />
    </main>
  </div>
)
