import styles from './brand.module.css'

/** Spout's mark and name. */
export const Brand = () => (
  <span className={styles.brand}>
    <svg className={styles.mark} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M8 9h7a4 4 0 0 1 4 4v2m0-2v6m0 0-5 5m5-5 5 5m-5-5v5" />
    </svg>
    Spout
  </span>
)
