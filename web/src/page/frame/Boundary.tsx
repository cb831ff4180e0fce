import { Component, type ComponentChildren } from 'preact';
import { words } from '../words';

interface State {
  readonly error: unknown;
}

/** A part of the page whose defects stay its own: when drawing it throws, a sentence takes its place. */
export class Boundary extends Component<{ children: ComponentChildren }, State> {
  override state: State = { error: null };

  static override getDerivedStateFromError(error: unknown): State {
    return { error: error ?? 'null' };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div class="trouble" role="alert">
        <h2>{words.defect.what}</h2>
        <p class="why" translate={false}>
          {String(error)}
        </p>
        <button type="button" class="button" onClick={() => this.setState({ error: null })}>
          {words.defect.again}
        </button>
      </div>
    );
  }
}
