module bulk

go 1.23.0

require github.com/opensearch-project/opensearch-go/v4 v4.5.0
