"""What LlamaIndex backends must do. Subclass a suite, give it its fixture, run pytest.

```python
class TestMyVectorStore(VectorStoreSuite):
    @pytest.fixture
    def vector_store(self):
        return MyVectorStore(dimension=DIMENSION)
```

`VectorStoreSuite` needs `vector_store`, `MemoryBlockSuite` needs `block`, `GraphStoreSuite` needs `graph_store`: an
empty one each. A test of what a backend says it lacks (`supports_vector_queries`), or of an optional fixture that is
not given, is skipped. `python -m ko_integrations.testing.llama_index_report` prints what backends fail.
"""

from ko_integrations.testing.llama_index_suite.graph_stores import GraphStoreSuite
from ko_integrations.testing.llama_index_suite.memory_blocks import MemoryBlockSuite
from ko_integrations.testing.llama_index_suite.vector_stores import DIMENSION, VectorStoreSuite

__all__ = ["DIMENSION", "GraphStoreSuite", "MemoryBlockSuite", "VectorStoreSuite"]
