import { useId } from 'react'
import styles from './field.module.css'

export interface Option {
  readonly value: string
  readonly text: string
}

interface Props {
  readonly label: string
  readonly options: readonly Option[]
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint?: string | undefined
  readonly error?: string | null
  readonly isLabelHidden?: boolean
}

/** One of several, with the browser's own list: it suits keyboards, screen readers and telephones. */
export function Choice({ label, options, value, onChange, hint, error = null, isLabelHidden = false }: Props) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={isLabelHidden ? styles.hidden : styles.label}>
        {label}
      </label>
      <select
        id={id}
        className={`${styles.input} ${styles.select}`}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        aria-invalid={error !== null}
        aria-describedby={`${id}-more`}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
      <span id={`${id}-more`} className={error === null ? styles.hint : styles.error}>
        {error ?? hint}
      </span>
    </div>
  )
}
