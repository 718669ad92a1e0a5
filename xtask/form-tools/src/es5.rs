//! Scripts for browsers of any age: minifies them, and refuses syntax newer than ES5 (ECMA-262, 5th edition), which
//! such a browser cannot parse.

use anyhow::{Result, bail};
use oxc::allocator::Allocator;
use oxc::ast::AstKind;
use oxc::ast::ast::{RegExpFlags, VariableDeclarationKind};
use oxc::parser::Parser;
use oxc::semantic::{AstNode, AstNodes, SemanticBuilder};
use oxc::span::{GetSpan, SourceType};
use oxc::syntax::operator::BinaryOperator;
use serde_json::json;

/// Minifies a classic script like [`super::script::minify_js`], after checking it. The result is ES5, too.
///
/// # Errors
/// If it is not JavaScript, is newer than ES5, or declares a name twice. The message shows the place.
pub fn minify_es5(source: &str) -> Result<String> {
    check_syntax(source)?;
    check_declarations(source)?;
    let text = quote_strings(&super::script::minify_for("es2015", source)?)?;
    check_syntax(&text)?;
    Ok(text)
}

/// Puts strings between backticks into double quotes: the code generator writes backticks, which are newer than ES5.
/// Templates with expressions stay.
fn quote_strings(text: &str) -> Result<String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::script()).parse();
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    let mut strings: Vec<_> = semantic
        .nodes()
        .iter()
        .filter_map(|node| match node.kind() {
            AstKind::TemplateLiteral(template) if template.expressions.is_empty() => Some(template),
            _ => None,
        })
        .collect();
    strings.sort_by_key(|template| template.span.start);
    let mut out = String::with_capacity(text.len() + 100);
    let mut copied = 0;
    for template in strings {
        let Some(value) = template.quasis.first().and_then(|part| part.value.cooked) else { continue };
        out.push_str(&text[copied..template.span.start as usize]);
        out.push_str(&json!(value.as_str()).to_string());
        copied = template.span.end as usize;
    }
    out.push_str(&text[copied..]);
    Ok(out)
}

/// Checks that a classic script uses only syntax of ES5.
///
/// # Errors
/// The first newer syntax.
fn check_syntax(source: &str) -> Result<()> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::script()).parse();
    if let Some(error) = parsed.diagnostics.first() {
        bail!("{error}");
    }
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    let nodes = semantic.nodes();
    if let Some(newer) = nodes.iter().find(|node| !is_es5_node(node, nodes)) {
        let span = newer.kind().span();
        let text = &source[span.start as usize..span.end as usize];
        bail!("newer than ES5: {}", text.chars().take(60).collect::<String>());
    }
    Ok(())
}

/// Checks that no name is declared twice in one function: ES5 accepts that for `var`, unlike newer syntax for `const`.
///
/// # Errors
/// The first such name.
fn check_declarations(source: &str) -> Result<()> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::script()).parse();
    let semantic = SemanticBuilder::new().build(&parsed.program).semantic;
    let names = semantic.scoping();
    match names.symbol_ids().find(|id| !names.symbol_redeclarations(*id).is_empty()) {
        Some(twice) => bail!("declared twice: {}", names.symbol_name(twice)),
        None => Ok(()),
    }
}

/// Returns true if ES5 has this kind of node of the syntax tree. Nested nodes are checked on their own.
#[expect(clippy::too_many_lines, reason = "a table")]
fn is_es5_node(node: &AstNode<'_>, nodes: &AstNodes<'_>) -> bool {
    match node.kind() {
        AstKind::Program(_)
        | AstKind::IdentifierName(_)
        | AstKind::IdentifierReference(_)
        | AstKind::BindingIdentifier(_)
        | AstKind::LabelIdentifier(_)
        | AstKind::ThisExpression(_)
        | AstKind::ArrayExpression(_)
        | AstKind::Elision(_)
        | AstKind::ObjectExpression(_)
        | AstKind::ComputedMemberExpression(_)
        | AstKind::StaticMemberExpression(_)
        | AstKind::CallExpression(_)
        | AstKind::NewExpression(_)
        | AstKind::UpdateExpression(_)
        | AstKind::UnaryExpression(_)
        | AstKind::ConditionalExpression(_)
        | AstKind::SequenceExpression(_)
        | AstKind::ParenthesizedExpression(_)
        | AstKind::Directive(_)
        | AstKind::BlockStatement(_)
        | AstKind::VariableDeclarator(_)
        | AstKind::EmptyStatement(_)
        | AstKind::ExpressionStatement(_)
        | AstKind::IfStatement(_)
        | AstKind::DoWhileStatement(_)
        | AstKind::WhileStatement(_)
        | AstKind::ForStatement(_)
        | AstKind::ForInStatement(_)
        | AstKind::ContinueStatement(_)
        | AstKind::BreakStatement(_)
        | AstKind::ReturnStatement(_)
        | AstKind::SwitchStatement(_)
        | AstKind::SwitchCase(_)
        | AstKind::LabeledStatement(_)
        | AstKind::ThrowStatement(_)
        | AstKind::TryStatement(_)
        | AstKind::CatchParameter(_)
        | AstKind::FormalParameters(_)
        | AstKind::FunctionBody(_)
        | AstKind::BooleanLiteral(_)
        | AstKind::NullLiteral(_) => true,
        AstKind::VariableDeclaration(declaration) => declaration.kind == VariableDeclarationKind::Var,
        AstKind::ObjectProperty(property) => !property.shorthand && !property.method && !property.computed,
        AstKind::BinaryExpression(binary) => binary.operator != BinaryOperator::Exponential,
        AstKind::LogicalExpression(logical) => !logical.operator.is_coalesce(),
        AstKind::AssignmentExpression(assignment) => {
            let operator = assignment.operator;
            !operator.is_logical() && operator.to_binary_operator() != Some(BinaryOperator::Exponential)
        }
        AstKind::CatchClause(clause) => clause.param.is_some(),
        AstKind::FormalParameter(parameter) => parameter.initializer.is_none(),
        // A function that is declared inside a block means different things in different browsers.
        AstKind::Function(function) => {
            let alone = matches!(nodes.parent_kind(node.id()), AstKind::Program(_) | AstKind::FunctionBody(_));
            !function.generator && !function.r#async && (function.is_expression() || alone)
        }
        AstKind::NumericLiteral(number) => !is_new_number(number.raw.as_deref().unwrap_or_default()),
        AstKind::StringLiteral(string) => !string.raw.as_deref().unwrap_or_default().contains("\\u{"),
        AstKind::RegExpLiteral(literal) => {
            let pattern = literal.regex.pattern.text.as_str();
            let newer = RegExpFlags::all() - (RegExpFlags::G | RegExpFlags::I | RegExpFlags::M);
            !literal.regex.flags.intersects(newer) && !["(?<", "\\p{", "\\u{"].iter().any(|it| pattern.contains(it))
        }
        _ => false,
    }
}

/// Returns true for numbers such as `0b1`, `0o7` and `1_000`.
fn is_new_number(raw: &str) -> bool {
    let raw = raw.to_ascii_lowercase();
    raw.contains('_') || raw.starts_with("0b") || raw.starts_with("0o")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_browser_cannot_read_is_not_packed() {
        for newer in [
            "() => 1",
            "let a = 1;",
            "const a = 1;",
            "`a`;",
            "f`a`;",
            "f(...a);",
            "var b = [...a];",
            "var b = { a };",
            "var b = { a() {} };",
            "var b = { [a]: 1 };",
            "var b = { ...a };",
            "var { b } = a;",
            "var [b] = a;",
            "({ b } = a);",
            "[b] = a;",
            "function f(a = 1) {}",
            "function f(...a) {}",
            "function f({ a }) {}",
            "function* f() {}",
            "async function f() {}",
            "class A {}",
            "for (var a of b) {}",
            "try {} catch {}",
            "a?.b;",
            "a?.();",
            "a ?? b;",
            "a ??= b;",
            "a ||= b;",
            "a ** b;",
            "a **= b;",
            "0b1;",
            "1_000;",
            "1n;",
            "'\\u{1f600}';",
            "/a/u;",
            "/a/y;",
            "/a/d;",
            "/(?<=a)/;",
            "import('a');",
            "if (a) { function f() {} }",
        ] {
            let error = minify_es5(newer).unwrap_err().to_string();
            assert!(error.starts_with("newer than ES5: "), "{newer}: {error}");
        }
    }

    #[test]
    fn one_name_is_not_given_to_two_things() {
        for source in ["var a = 1; var a = 2;", "function f(a) { var a; }", "var f = 1; function f() {}"] {
            assert!(minify_es5(source).unwrap_err().to_string().starts_with("declared twice: "), "{source}");
        }
        assert!(minify_es5("var a; (function () { var a; })();").is_ok());
    }

    #[test]
    fn what_they_read_stays_what_it_says() {
        let packed = minify_es5(
            "(function (say) { 'use strict'; var it = 'a\"b'; for (var at = 0; at < 3; at++) \
             try { say(it + \"'\", /a[^/]/gi, at); } catch (none) { say(function () { return { it: it, \"a-b\": 1 }; }); } })(say);",
        )
        .unwrap();
        assert!(!packed.contains('`') && !packed.contains("=>"), "{packed}");
        for part in ["\"use strict\"", "/a[^/]/gi", "\"a-b\":1"] {
            assert!(packed.contains(part), "{part}: {packed}");
        }
    }
}
