import styles from './command.module.css'
import { CopyButton } from './copy-button.tsx'

interface Props {
  /** What it is, such as `YAML`. */
  readonly title: string
  readonly text: string
}

/** A command or text to copy. */
export const Command = ({ title, text }: Props) => (
  <section className={styles.box} aria-label={title}>
    <div className={styles.head}>
      <h2 className={styles.title}>{title}</h2>
      <CopyButton text={text} what={title} />
    </div>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
    <pre className={styles.text} tabIndex={0} dir="ltr">
      {text}
    </pre>
  </section>
)
